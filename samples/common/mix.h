// Pseudorandom numbers that are a function of an index, so that any thread can compute any of them.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample {

/// The increment of splitmix64's state.
inline constexpr std::uint64_t kMixIncrement = 0x9e3779b97f4a7c15u;

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
WIC_DEVICE constexpr std::uint64_t mix(std::uint64_t x) {
  x += kMixIncrement;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A pseudorandom word for an index, so that initial field values differ from each other.
WIC_DEVICE constexpr std::uint32_t scrambled(std::uint64_t index) {
  std::uint64_t word = (index + 1) * kMixIncrement;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace sample
