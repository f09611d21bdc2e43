// The policy of a chain of matrix products: equal parts of each row of tiles have a semaphore each. All columns in one
// part: wic::Row. One column per part: wic::Tile.
#pragma once

#include <cstdint>

#include "wic/tiles.h"

namespace sample::tiles {

struct RowParts {
  wic::TileGrid grid;
  std::uint32_t columns_per_part = 1;

  WIC_DEVICE constexpr std::uint32_t parts() const { return (grid.columns + columns_per_part - 1) / columns_per_part; }
  WIC_DEVICE constexpr std::uint32_t semaphores() const { return grid.rows * parts(); }
  WIC_DEVICE constexpr std::uint32_t semaphore(wic::TilePlace tile) const {
    return tile.row * parts() + tile.column / columns_per_part;
  }
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t semaphore) const {
    const std::uint32_t first = semaphore % parts() * columns_per_part;
    return grid.columns - first < columns_per_part ? grid.columns - first : columns_per_part;
  }
};

}  // namespace sample::tiles
