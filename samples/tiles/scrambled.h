// Numbers that look random, the same for the same input.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample::tiles {

WIC_DEVICE constexpr std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

}  // namespace sample::tiles
