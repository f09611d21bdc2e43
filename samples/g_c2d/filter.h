// The filter: every pixel becomes the weighted average of the 5 x 5 pixels around it.
//
// The weights are the products of (1, 3, 5, 3, 1) along both axes; they sum to 169. The image is mirrored at its edges.
// Pixels are words and the arithmetic is modulo 2^32:
// - The arithmetic is exact in any order, so nvcc, g++ and the reference agree in every bit.
// - 169 is odd and has an inverse modulo 2^32. Division by the sum of the weights preserves the total, mirrored edges
//   included: the sum of all pixels never changes, which is a check for any size and number of passes.
// - Errors persist: an average of real numbers would smooth out a wrong pixel, but here it changes the total
//   permanently.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/ranks.h"
#include "wic/platform.h"

namespace sample::c2d {

using Pixel = std::uint32_t;

inline constexpr std::uint32_t kReach = 2;
inline constexpr std::uint32_t kWeightSum = 13 * 13;
inline constexpr std::uint32_t kInverseOfSum = inverse_of(kWeightSum);
static_assert(static_cast<std::uint32_t>(kWeightSum * kInverseOfSum) == 1);

WIC_DEVICE inline Pixel weigh(Pixel a, Pixel b, Pixel c, Pixel d, Pixel e) { return (a + e) + 3 * (b + d) + 5 * c; }

/// The index of pixel i in a mirrored line of n >= 2 pixels; i from -2 to n + 1.
WIC_DEVICE inline std::uint32_t mirrored(std::int32_t i, std::uint32_t n) {
  if (i < 0) return static_cast<std::uint32_t>(-1 - i);
  const auto at = static_cast<std::uint32_t>(i);
  return at < n ? at : 2 * n - 1 - at;
}

/// A band of rows of an image, and the rows beyond it. Has at least 2 * kReach rows, so that no row needs both sides.
struct Band {
  const Pixel* own;
  const Pixel* above;  ///< kReach rows; nullptr: the image ends here, or the caller needs no such rows
  const Pixel* below;
  std::uint32_t width;
  std::uint32_t rows;

  WIC_DEVICE const Pixel* row(std::int32_t y) const {
    if (y < 0 && above != nullptr)
      return above + static_cast<std::size_t>(y + static_cast<std::int32_t>(kReach)) * width;
    if (y >= static_cast<std::int32_t>(rows) && below != nullptr) {
      return below + (static_cast<std::size_t>(y) - rows) * width;
    }
    return own + std::size_t{mirrored(y, rows)} * width;
  }
};

/// The weighted sum of the five pixels around (x, y) in its row.
WIC_DEVICE inline Pixel weigh_row(const Band& band, std::uint32_t x, std::int32_t y) {
  const Pixel* const row = band.row(y);
  if (x >= kReach && x + kReach < band.width) {
    return weigh(row[x - 2], row[x - 1], row[x], row[x + 1], row[x + 2]);
  }
  const auto at = [&](std::int32_t d) { return row[mirrored(static_cast<std::int32_t>(x) + d, band.width)]; };
  return weigh(at(-2), at(-1), at(0), at(1), at(2));
}

/// Filters `count` pixels of column x, starting at row y. Weighs each row once and uses it five times.
WIC_DEVICE inline void filter_column(const Band& band, Pixel* to, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t count) {
  const auto row = static_cast<std::int32_t>(y);
  Pixel a = weigh_row(band, x, row - 2), b = weigh_row(band, x, row - 1), c = weigh_row(band, x, row),
        d = weigh_row(band, x, row + 1);
  Pixel* out = to + std::size_t{y} * band.width + x;
  for (std::uint32_t i = 0; i < count; ++i, out += band.width) {
    const Pixel e = weigh_row(band, x, row + static_cast<std::int32_t>(i) + 2);
    *out = kInverseOfSum * weigh(a, b, c, d, e);
    a = b;
    b = c;
    c = d;
    d = e;
  }
}

}  // namespace sample::c2d
