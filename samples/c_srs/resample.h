// Resampling of the pictures: bilinear and by area, in integer arithmetic.
#pragma once

#include "c_srs/product.h"

namespace sample::srs {

/// The two source pixels around the centre of target pixel `to`, and the position between them in 256ths.
struct Between {
  std::uint32_t first, second, weight;  ///< weight: of `second`, 0 to 255

  WIC_DEVICE static constexpr Between of(std::uint32_t to, std::uint32_t to_edge, std::uint32_t edge) {
    const std::uint32_t middle = (2 * to + 1) * edge * 128 / to_edge;  // a source pixel's centre is at 128
    const std::uint32_t at = middle < 128 ? 0 : middle - 128;
    const std::uint32_t first = at / 256;
    return {first, first + 1 < edge ? first + 1 : first, at % 256};
  }
};

/// One pixel by bilinear interpolation. 65535 * 256 * 256 + 32768 is below 2^32.
WIC_DEVICE inline std::uint32_t bilinear(const Pixel* tile, std::uint32_t edge, const Between& x, const Between& y) {
  const Pixel* const above = tile + y.first * edge;
  const Pixel* const below = tile + y.second * edge;
  const std::uint32_t upper = above[x.first] * (256 - x.weight) + above[x.second] * x.weight;
  const std::uint32_t lower = below[x.first] * (256 - x.weight) + below[x.second] * x.weight;
  return (upper * (256 - y.weight) + lower * y.weight + 32768) >> 16;
}

/// The rounded mean of the source pixels that one target pixel covers; at most 7^2 source pixels for the targets'
/// sizes.
WIC_DEVICE inline std::uint32_t area_mean(const Pixel* tile, std::uint32_t edge, std::uint32_t to_edge, std::uint32_t x,
                                          std::uint32_t y) {
  const std::uint32_t left = x * edge / to_edge, right = (x + 1) * edge / to_edge;
  const std::uint32_t top = y * edge / to_edge, bottom = (y + 1) * edge / to_edge;
  std::uint32_t sum = 0;
  for (std::uint32_t j = top; j < bottom; ++j) {
    for (std::uint32_t i = left; i < right; ++i) sum += tile[j * edge + i];
  }
  const std::uint32_t count = (right - left) * (bottom - top);
  return (sum + count / 2) / count;
}

WIC_DEVICE inline std::uint32_t resampled(const Pixel* tile, std::uint32_t edge, const Target& target, std::uint32_t x,
                                          std::uint32_t y) {
  switch (target.resampling) {
    case Resampling::bilinear:
      return bilinear(tile, edge, Between::of(x, target.edge, edge), Between::of(y, target.edge, edge));
    case Resampling::area:
      return area_mean(tile, edge, target.edge, x, y);
    case Resampling::none:
      break;
  }
  return tile[y * edge + x];
}

}  // namespace sample::srs
