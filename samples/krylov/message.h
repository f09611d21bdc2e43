// The layout of a message between two ranks: a head of four numbers, then the values that the receiver needs, by global
// number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wic/platform.h"

namespace sample::krylov {

inline constexpr std::uint32_t kHead = 4;
enum : std::uint32_t { kGammaAt = 0, kDeltaAt = 1, kIterationAt = 2 };  ///< the fourth number is unused

WIC_DEVICE constexpr std::uint32_t message_bytes(std::uint32_t values) {
  return (kHead + values) * static_cast<std::uint32_t>(sizeof(double));
}

/// Number of blocks that write a message together: one part per 2,048 values, at most 8. Not calibrated.
inline std::uint32_t parts_of(std::uint32_t values, std::uint32_t blocks) {
  return std::min({values / 2048 + 1, 8u, blocks});
}

}  // namespace sample::krylov
