// Waits for counters of 64 bits. They look at the counter's lower half, since every strategy handles words of 32 bits.
#pragma once

#include <cstdint>

#include "wic/wait.h"

namespace wic {

/// A counter of 64 bits that only grows has reached `goal`. The counter must be less than 2^31 away from the goal while
/// somebody waits: the lower half then tells.
struct AtLeast64 {
  std::uint64_t goal;
  WIC_DEVICE bool operator()(std::uint64_t value) const { return static_cast<std::int64_t>(value - goal) >= 0; }
  WIC_DEVICE AtLeast of_lower_half() const { return {static_cast<std::uint32_t>(goal)}; }
};

/// The word of a counter on which its waiters look; also the word in the trace. GPUs and x86 store the lower half
/// first.
WIC_DEVICE inline const std::uint32_t* lower_half(const std::uint64_t* counter) {
  return reinterpret_cast<const std::uint32_t*>(counter);
}

}  // namespace wic
