// bfloat16 numbers as their 16 bits: the upper half of a float.
#pragma once

#include <cstdint>
#include <cstring>

#include "wic/platform.h"

namespace sample::tiles {

using Bf16 = std::uint16_t;

WIC_DEVICE inline float to_float(Bf16 value) {
  const std::uint32_t bits = std::uint32_t{value} << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/// Rounds to nearest, ties to even. Finite numbers.
WIC_DEVICE inline Bf16 to_bf16(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return static_cast<Bf16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace sample::tiles
