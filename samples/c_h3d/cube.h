// The block of cells that a rank owns: n x n x n of them, and one layer of ghost cells around.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/platform.h"

namespace sample::h3d {

/// One value of the field. Arithmetic on it wraps, so it is exact everywhere: see stencil.h.
using Cell = std::uint32_t;

/// A box of cells: where it begins and how far it reaches. Own cells have coordinates 1..n, ghost cells 0 and n + 1.
struct Box {
  std::uint32_t x, y, z;
  std::uint32_t nx, ny, nz;

  WIC_DEVICE std::uint32_t cells() const { return nx * ny * nz; }
};

struct Cube {
  std::uint32_t n;

  WIC_DEVICE std::uint32_t step_y() const { return n + 2; }
  WIC_DEVICE std::uint32_t step_z() const { return (n + 2) * (n + 2); }
  WIC_DEVICE std::uint32_t stored_cells() const { return step_z() * (n + 2); }
  WIC_DEVICE std::uint32_t index(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return x + step_y() * y + step_z() * z;
  }
  /// The place of a box's i-th cell, x running fastest.
  WIC_DEVICE std::uint32_t index(const Box& box, std::uint32_t i) const {
    const std::uint32_t row = i / box.nx;
    return index(box.x + i % box.nx, box.y + row % box.ny, box.z + row / box.ny);
  }

  /// The cells that need no ghosts; empty up to n = 2.
  WIC_DEVICE Box interior() const {
    const std::uint32_t inner = inner_side();
    return {2, 2, 2, inner, inner, inner};
  }

  /// The own cells that need ghosts, in six boxes (some are empty for small n) that do not overlap.
  static constexpr std::uint32_t kShellBoxes = 6;
  WIC_DEVICE Box shell(std::uint32_t box) const {
    const std::uint32_t inner = inner_side();
    const std::uint32_t far_side = n > 1 ? 1 : 0;  // in a cube of one layer the near side is the far side too
    switch (box) {
      case 0: return {1, 1, 1, n, n, 1};
      case 1: return {1, 1, n, n, n, far_side};
      case 2: return {1, 1, 2, n, 1, inner};
      case 3: return {1, n, 2, n, far_side, inner};
      case 4: return {1, 2, 2, 1, inner, inner};
      default: return {n, 2, 2, far_side, inner, inner};
    }
  }

 private:
  WIC_DEVICE std::uint32_t inner_side() const { return n > 2 ? n - 2 : 0; }
};

}  // namespace sample::h3d
