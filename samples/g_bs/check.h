// Whether a list is the sorted one. No second sort is needed: records are ordered strictly, each names the place that
// its key came from, and the key at a place is known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "g_bs/layout.h"
#include "wic/device.h"

namespace sample::bs {

/// `sorted`: all records of the layout in order of their place.
inline wicprof::Result<> check_sorted(const Layout& layout, std::uint64_t seed, std::span<const Record> sorted) {
  std::vector<bool> seen(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string where = "place " + std::to_string(i) + ": ";
    const auto from = static_cast<std::uint32_t>(sorted[i]);
    if (i > 0 && sorted[i] <= sorted[i - 1]) {
      return wicprof::failed(where + "key " + std::to_string(sorted[i] >> 32) + " behind key " +
                             std::to_string(sorted[i - 1] >> 32));
    }
    if (from >= sorted.size() || sorted[i] != layout.first_record(seed, from)) {
      return wicprof::failed(where + "key " + std::to_string(sorted[i] >> 32) + " is not the one that place " +
                             std::to_string(from) + " had");
    }
    if (seen[from]) return wicprof::failed(where + "the key of place " + std::to_string(from) + " a second time");
    seen[from] = true;
  }
  return wicprof::ok();
}

}  // namespace sample::bs
