// The filter that removes sensor noise from a tile: 5 x 5 pixels, weighted 1 4 6 4 1 along both axes; border pixels are
// repeated beyond the border.
#pragma once

#include "c_srs/png_image.h"
#include "wic/platform.h"

namespace sample::srs {

/// One pixel of the filtered tile. The weights add up to 256; 128 rounds the result.
WIC_DEVICE inline Pixel filtered(const Pixel* tile, std::uint32_t edge, std::uint32_t x, std::uint32_t y) {
  constexpr std::uint32_t kWeights[5] = {1, 4, 6, 4, 1};
  const auto inside = [edge](std::uint32_t at, std::uint32_t offset) {  // at + offset - 2, clamped to the tile
    const std::uint32_t moved = at + offset;
    return moved < 2 ? 0 : (moved - 2 < edge ? moved - 2 : edge - 1);
  };
  std::uint32_t sum = 128;
  for (std::uint32_t j = 0; j < 5; ++j) {
    const Pixel* const row = tile + inside(y, j) * edge;
    std::uint32_t across = 0;
    for (std::uint32_t i = 0; i < 5; ++i) across += kWeights[i] * row[inside(x, i)];
    sum += kWeights[j] * across;
  }
  return static_cast<Pixel>(sum >> 8);
}

}  // namespace sample::srs
