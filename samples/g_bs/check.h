// Checks a sorted list without a second sort: records are strictly ordered, each names the original index of its key,
// and the key at an index is known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "g_bs/layout.h"
#include "wic/device.h"

namespace sample::bs {

/// `sorted`: all records of the layout, by position.
inline wic::Result<> check_sorted(const Layout& layout, std::uint64_t seed, std::span<const Record> sorted) {
  std::vector<bool> seen(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string where = "position " + std::to_string(i) + ": ";
    const auto from = static_cast<std::uint32_t>(sorted[i]);
    if (i > 0 && sorted[i] <= sorted[i - 1]) {
      return wic::failed(where + "key " + std::to_string(sorted[i] >> 32) + " after key " +
                         std::to_string(sorted[i - 1] >> 32));
    }
    if (from >= sorted.size() || sorted[i] != layout.first_record(seed, from)) {
      return wic::failed(where + "key " + std::to_string(sorted[i] >> 32) + " is not the original key of index " +
                         std::to_string(from));
    }
    if (seen[from]) return wic::failed(where + "the key of index " + std::to_string(from) + " occurs twice");
    seen[from] = true;
  }
  return wic::ok();
}

}  // namespace sample::bs
