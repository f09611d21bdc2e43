// How much of a run the reference repeats. It is slow beside GPUs, so on large domains it does not repeat all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sample::h3d {

struct CheckPlan {
  static constexpr std::uint64_t kCellUpdates = std::uint64_t{1} << 28;  ///< what the reference does at most: seconds
  static constexpr std::uint32_t kExtraIterations = 8;

  std::uint32_t most;  ///< iterations that it can repeat; one at least

  static CheckPlan for_cells(std::size_t cells) {
    return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kCellUpdates / cells, 1, std::uint64_t{1} << 31))};
  }

  /// 0: it repeats all of them. A run that is too long for that goes on for so many iterations more, and those are
  /// repeated.
  std::uint32_t extra_after(std::uint32_t iterations) const {
    return iterations > most ? std::min(most, kExtraIterations) : 0;
  }
};

}  // namespace sample::h3d
