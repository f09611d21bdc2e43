// Sums program counter samples over an interval, so that the trace needs one row per sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "protocol/time.h"

namespace wicprof::collector {

/// One program counter combined with one stall reason.
struct PcKey {
  std::uint64_t module = 0;
  std::uint64_t pc_offset = 0;
  std::uint32_t function = 0;  ///< CUPTI's index within the module
  std::uint32_t reason = 0;    ///< CUPTI's index of the stall reason
  bool operator==(const PcKey&) const = default;
};

/// A function with samples.
struct SampledFunction {
  std::string symbol;
  std::uint64_t module = 0;
  bool has_line = false;           ///< a source line was found for one of its program counters
  std::uint32_t without_line = 0;  ///< program counters without a source line, counted until has_line
};

struct PcKeyHash {
  std::size_t operator()(const PcKey& key) const {
    std::uint64_t h = key.module ^ (key.pc_offset * 0x9e3779b97f4a7c15u);
    h ^= (std::uint64_t{key.function} << 32 | key.reason) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }
};

/// The samples of one context in one interval. One thread at a time.
struct PcTally {
  TimeNs begin = 0;
  std::uint64_t samples = 0, dropped = 0, foreign = 0;
  std::unordered_map<PcKey, std::uint32_t, PcKeyHash> counts;

  bool empty() const { return samples == 0 && dropped == 0 && foreign == 0 && counts.empty(); }
  void clear(TimeNs now) {
    begin = now;
    samples = dropped = foreign = 0;
    counts.clear();
  }
};

}  // namespace wicprof::collector
