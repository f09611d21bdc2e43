// The stencil: every cell becomes the weighted average of the 27 cells around and including it.
//
// The weights are the products of (1, 3, 1) along each axis: 27 for the cell, 9 for its faces, 3 for its edges, 1 for
// its corners; they sum to 125. The arithmetic is modulo 2^32 on purpose:
// - The arithmetic is exact in any order, so nvcc, g++ and the reference agree in every bit. Floating point would
//   differ, because compilers contract a * b + c differently.
// - 125 is odd and has an inverse modulo 2^32, so the division is exact too. It preserves the total: the sum of all
//   cells of a periodic domain never changes, which is a check for any size and number of iterations.
// - Errors persist: an average of real numbers would smooth out a wrong cell, but here it changes the total
//   permanently.
#pragma once

#include "c_h3d/brick.h"

namespace sample::h3d {

inline constexpr std::uint32_t kWeight[3] = {1, 3, 1};
inline constexpr std::uint32_t kWeightSum = 125;
inline constexpr std::uint32_t kInverseOfSum = 652'835'029u;
static_assert(static_cast<std::uint32_t>(kWeightSum * kInverseOfSum) == 1);

WIC_DEVICE inline Cell weigh(Cell before, Cell here, Cell after) { return before + 3 * here + after; }

/// The weighted sum of the nine cells around `at` in the plane spanned by strides a and b.
WIC_DEVICE inline Cell weigh_plane(const Cell* field, std::uint32_t at, std::uint32_t a, std::uint32_t b) {
  const auto row = [&](std::uint32_t i) { return weigh(field[i - a], field[i], field[i + a]); };
  return weigh(row(at - b), row(at), row(at + b));
}

/// Averages `count` cells starting at `at` with stride `along`; a and b are the strides of the other two axes. Weighs
/// each plane once and uses it three times.
WIC_DEVICE inline void average_line(const Cell* from, Cell* to, std::uint32_t at, std::uint32_t count,
                                    std::uint32_t along, std::uint32_t a, std::uint32_t b) {
  Cell before = weigh_plane(from, at - along, a, b);
  Cell here = weigh_plane(from, at, a, b);
  for (std::uint32_t i = 0; i < count; ++i, at += along) {
    const Cell after = weigh_plane(from, at + along, a, b);
    to[at] = kInverseOfSum * weigh(before, here, after);
    before = here;
    here = after;
  }
}

}  // namespace sample::h3d
