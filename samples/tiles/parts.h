// The policy of a chain of products: which tiles of a product share a semaphore. With the right numbers it is wic::Row,
// wic::Tile or wic::Strided, so that one kernel serves for all of them.
#pragma once

#include <cstdint>

#include "wic/tiles.h"

namespace sample::tiles {

struct Parts {
  wic::TileGrid grid;
  std::uint32_t rows_per_part = 1;     ///< of tiles
  std::uint32_t columns_per_part = 1;  ///< of tiles, within a slice
  std::uint32_t stride = 1;            ///< columns of a slice: equal parts of all slices share a semaphore

  /// Semaphores of a row of parts.
  WIC_DEVICE constexpr std::uint32_t parts() const { return (stride + columns_per_part - 1) / columns_per_part; }
  WIC_DEVICE constexpr std::uint32_t semaphores() const {
    return (grid.rows + rows_per_part - 1) / rows_per_part * parts();
  }
  WIC_DEVICE constexpr std::uint32_t semaphore(wic::TilePlace tile) const {
    return tile.row / rows_per_part * parts() + tile.column % stride / columns_per_part;
  }
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t semaphore) const {
    const std::uint32_t first_row = semaphore / parts() * rows_per_part;
    const std::uint32_t first = semaphore % parts() * columns_per_part;
    const std::uint32_t width = smaller(columns_per_part, stride - first);
    const std::uint32_t rest = grid.columns % stride;
    const std::uint32_t columns = grid.columns / stride * width + (rest > first ? smaller(rest - first, width) : 0);
    return smaller(rows_per_part, grid.rows - first_row) * columns;
  }

 private:
  static WIC_DEVICE constexpr std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
};

}  // namespace sample::tiles
