// The tiles of a kernel's result: a grid, and the order in which the tiles are computed.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace wic {

struct TilePlace {
  std::uint32_t column = 0, row = 0;
};

struct TileGrid {
  std::uint32_t columns = 0, rows = 0;

  WIC_DEVICE constexpr std::uint32_t count() const { return columns * rows; }
};

/// Groups of `rows_together` rows, one after the other; in a group column by column. With 1 a row is complete as early
/// as possible; with more, tiles that are computed at the same time share more of their inputs in the cache.
struct TileOrder {
  TileGrid grid;
  std::uint32_t rows_together = 1;

  /// `index`: 0 to grid.count() - 1, in the order of computation.
  WIC_DEVICE constexpr TilePlace place(std::uint32_t index) const {
    const std::uint32_t group = index / (rows_together * grid.columns);
    const std::uint32_t first = group * rows_together;
    const std::uint32_t rows = grid.rows - first < rows_together ? grid.rows - first : rows_together;
    const std::uint32_t within = index - first * grid.columns;
    return {within / rows, first + within % rows};
  }
};

}  // namespace wic
