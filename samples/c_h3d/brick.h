// The cells that a rank owns: nx x n x n cells and one layer of ghost cells around them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/platform.h"

namespace sample::h3d {

/// One value of the field. Its arithmetic wraps and is therefore exact on every machine: see stencil.h.
using Cell = std::uint32_t;

/// A box of cells: first cell and size. Own cells have coordinates 1..n (along x 1..nx), ghost cells 0 and n + 1 (nx +
/// 1).
struct Box {
  std::uint32_t x, y, z;
  std::uint32_t nx, ny, nz;

  WIC_DEVICE std::uint32_t cells() const { return nx * ny * nz; }
};

struct Brick {
  std::uint32_t n;       ///< cells along y and along z
  std::uint32_t nx = n;  ///< cells along x, the axis of the ring; n for a cube

  WIC_DEVICE std::uint32_t step_y() const { return nx + 2; }
  WIC_DEVICE std::uint32_t step_z() const { return (nx + 2) * (n + 2); }
  WIC_DEVICE std::uint32_t stored_cells() const { return step_z() * (n + 2); }
  WIC_DEVICE std::uint32_t index(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return x + step_y() * y + step_z() * z;
  }
  /// Index of a box's i-th cell, x running fastest.
  WIC_DEVICE std::uint32_t index(const Box& box, std::uint32_t i) const {
    const std::uint32_t row = i / box.nx;
    return index(box.x + i % box.nx, box.y + row % box.ny, box.z + row / box.ny);
  }

  /// The own cells that need no ghosts; empty if a side is 2 or less.
  WIC_DEVICE Box interior() const { return {2, 2, 2, inner(nx), inner(n), inner(n)}; }

  /// The own cells that need ghosts, in six boxes (some are empty for short sides) that do not overlap.
  static constexpr std::uint32_t kShellBoxes = 6;
  WIC_DEVICE Box shell(std::uint32_t box) const {
    switch (box) {
      case 0:
        return {1, 1, 1, nx, n, 1};
      case 1:
        return {1, 1, n, nx, n, far_side(n)};
      case 2:
        return {1, 1, 2, nx, 1, inner(n)};
      case 3:
        return {1, n, 2, nx, far_side(n), inner(n)};
      case 4:
        return {1, 2, 2, 1, inner(n), inner(n)};
      default:
        return {nx, 2, 2, far_side(nx), inner(n), inner(n)};
    }
  }

 private:
  WIC_DEVICE static std::uint32_t inner(std::uint32_t side) { return side > 2 ? side - 2 : 0; }
  /// 0 if the brick has one layer, because the near side then covers it.
  WIC_DEVICE static std::uint32_t far_side(std::uint32_t side) { return side > 1 ? 1 : 0; }
};

}  // namespace sample::h3d
