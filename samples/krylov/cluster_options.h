// Configuration of the ranks.
#pragma once

#include <cstdint>
#include <string>

#include "rivals/rival.h"
#include "wic/channel_spec.h"

namespace sample::krylov {

inline constexpr std::uint32_t kMaxRanks = 6;  ///< the CPU's included

/// Requested shape of a rank's kernels; 0 = the rank's default.
struct ShapeWish {
  std::uint32_t blocks = 0;
  std::uint32_t threads = 0;
};

struct ClusterOptions {
  std::string prefix;  ///< of the lanes' names: "PREFIX.0to1" and so on
  wic::Way way = wic::Way::poll;
  Rival rival = Rival::none;
  ShapeWish shape;
  std::uint32_t host_threads = 1;
  std::uint64_t timeout_ns = 10'000'000'000;
};

}  // namespace sample::krylov
