// Policies: which semaphore a producer's tile belongs to, and how many tiles complete a semaphore. Consumers wait for
// semaphores. Few semaphores mean few waits, many mean that a consumer starts as early as its own data allows.
//
// A program's own policy is a trivially copyable class with the three functions of Tile below. Every tile of the grid
// belongs to exactly one semaphore.
#pragma once

#include <cstdint>

#include "wic/tile_grid.h"

namespace wic {

/// A semaphore per tile: for consumers that need some tiles of a row, or the tiles of a row one after the other.
struct Tile {
  TileGrid grid;

  WIC_DEVICE constexpr std::uint32_t semaphores() const { return grid.count(); }
  WIC_DEVICE constexpr std::uint32_t semaphore(TilePlace tile) const { return tile.row * grid.columns + tile.column; }
  /// Tiles that belong to the semaphore.
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t) const { return 1; }
};

/// A semaphore per row: for a matrix product whose left factor is the producer's result.
struct Row {
  TileGrid grid;

  WIC_DEVICE constexpr std::uint32_t semaphores() const { return grid.rows; }
  WIC_DEVICE constexpr std::uint32_t semaphore(TilePlace tile) const { return tile.row; }
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t) const { return grid.columns; }
};

/// A semaphore per column: for a matrix product whose right factor is the producer's result.
struct Column {
  TileGrid grid;

  WIC_DEVICE constexpr std::uint32_t semaphores() const { return grid.columns; }
  WIC_DEVICE constexpr std::uint32_t semaphore(TilePlace tile) const { return tile.column; }
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t) const { return grid.rows; }
};

/// In each row one semaphore for all columns that are equal modulo `stride`. For a consumer that needs the same part of
/// several slices of a row: a head's part of the queries, keys and values that one product computes side by side, or
/// the taps of a convolution.
struct Strided {
  TileGrid grid;
  std::uint32_t stride = 1;  ///< columns of a slice; 1 to grid.columns

  WIC_DEVICE constexpr std::uint32_t semaphores() const { return grid.rows * stride; }
  WIC_DEVICE constexpr std::uint32_t semaphore(TilePlace tile) const {
    return tile.row * stride + tile.column % stride;
  }
  WIC_DEVICE constexpr std::uint32_t tiles(std::uint32_t semaphore) const {
    return (grid.columns - semaphore % stride + stride - 1) / stride;
  }
};

}  // namespace wic
