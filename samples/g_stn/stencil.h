// The stencil: heat in a solid whose electrons and lattice have separate temperatures (the two-temperature model). Each
// field spreads to the six neighbouring cells, electrons faster, and the fields exchange heat within each cell.
//
//   a' = (3 a + the six a around) / 9  + e (b - a)
//   b' = (5 b + the six b around) / 11 + e (a - b)
//
// No heat leaves, because the cube is mirrored at its faces. Cells are words and the arithmetic is modulo 2^32, hence
// exact in any order and with any compiler; 9 and 11 are odd and have inverses. The sum of all cells never changes,
// which is a check for any size and number of steps, and errors persist: a wrong cell changes the sum permanently.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/ranks.h"
#include "wic/platform.h"

namespace sample::stn {

using Cell = std::uint32_t;

inline constexpr std::uint32_t kFields = 2;
inline constexpr std::uint32_t kExchange = 7;  ///< e

WIC_DEVICE constexpr std::uint32_t weight_of_cell(std::uint32_t field) { return field == 0 ? 3 : 5; }
WIC_DEVICE constexpr std::uint32_t inverse_of_sum(std::uint32_t field) {
  constexpr std::uint32_t kInverse[kFields] = {inverse_of(3 + 6), inverse_of(5 + 6)};
  return field == 0 ? kInverse[0] : kInverse[1];
}
static_assert(inverse_of_sum(0) * 9u == 1u && inverse_of_sum(1) * 11u == 1u);

/// The new value of a cell. `cell`: its value; `around`: sum of its six neighbours; `other`: the other field at the
/// same cell.
WIC_DEVICE constexpr Cell next_cell(std::uint32_t field, Cell cell, Cell around, Cell other) {
  return inverse_of_sum(field) * (weight_of_cell(field) * cell + around) + kExchange * (other - cell);
}

/// Offset of a field's plane at height z. Planes of n x n cells alternate between the two fields.
WIC_DEVICE constexpr std::size_t plane_at(std::uint32_t n, std::uint32_t z, std::uint32_t field) {
  return (std::size_t{z} * kFields + field) * n * n;
}

/// The four cells around (x, y) in a plane.
struct Around {
  std::uint32_t left, right, near, far;  ///< offsets in the plane

  WIC_DEVICE Around(std::uint32_t n, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t at = y * n + x;
    left = x == 0 ? at : at - 1;
    right = x + 1 == n ? at : at + 1;
    near = y == 0 ? at : at - n;
    far = y + 1 == n ? at : at + n;
  }
  WIC_DEVICE Cell sum(const Cell* plane) const { return plane[left] + plane[right] + plane[near] + plane[far]; }
};

/// Steps `count` cells of both fields in column (x, y), starting at height z, in a mirrored slab of `planes` heights.
/// Reads each cell of the column once.
WIC_DEVICE inline void step_column(const Cell* from, Cell* to, std::uint32_t n, std::uint32_t planes, std::uint32_t x,
                                   std::uint32_t y, std::uint32_t z, std::uint32_t count) {
  const Around around(n, x, y);
  const std::uint32_t at = y * n + x;
  const auto cell = [&](std::uint32_t height, std::uint32_t field) { return from[plane_at(n, height, field) + at]; };
  const std::uint32_t under = z == 0 ? 0 : z - 1;
  Cell below_a = cell(under, 0), below_b = cell(under, 1);
  Cell a = cell(z, 0), b = cell(z, 1);
  for (std::uint32_t i = 0; i < count; ++i, ++z) {
    const std::uint32_t over = z + 1 == planes ? z : z + 1;
    const Cell above_a = cell(over, 0), above_b = cell(over, 1);
    const std::size_t plane_a = plane_at(n, z, 0), plane_b = plane_at(n, z, 1);
    to[plane_a + at] = next_cell(0, a, around.sum(from + plane_a) + below_a + above_a, b);
    to[plane_b + at] = next_cell(1, b, around.sum(from + plane_b) + below_b + above_b, a);
    below_a = a;
    below_b = b;
    a = above_a;
    b = above_b;
  }
}

/// Steps one cell of one field at height z, between the slab's plane at height `inner` and the plane beyond the slab.
/// `beyond` holds that plane's rows from `first_row` on.
WIC_DEVICE inline void step_border_cell(const Cell* from, Cell* to, std::uint32_t n, std::uint32_t field,
                                        std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t inner,
                                        const Cell* beyond, std::uint32_t first_row) {
  const Around around(n, x, y);
  const std::uint32_t at = y * n + x;
  const std::size_t plane = plane_at(n, z, field);
  const Cell sum = around.sum(from + plane) + from[plane_at(n, inner, field) + at] + beyond[(y - first_row) * n + x];
  to[plane + at] = next_cell(field, from[plane + at], sum, from[plane_at(n, z, 1 - field) + at]);
}

}  // namespace sample::stn
