// The numbers of a product (gemm.h), a softmax (softmax.h) and what a stage of a chain needs of an earlier one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tiles/bf16.h"
#include "tiles/parts.h"
#include "wic/tiles.h"

namespace sample::tiles {

/// A CUtensorMap, which describes a matrix to the copy engine; tensor_map.h fills it.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

/// Rows x columns numbers per head, depth products for each. columns, depth: multiples of 8.
struct GemmSize {
  std::uint32_t rows = 0, columns = 0, depth = 0;
  std::uint32_t heads = 1;  ///< products of that size, side by side in the same rows
};

/// The left factor as the implicit matrix of a convolution of 3 x 3 taps at distance 1 with a margin of zeros: a row
/// per pixel, in it all channels per tap. `channels` a multiple of 64; 0: a plain matrix.
struct Image {
  std::uint32_t width = 0, height = 0, channels = 0;
};

/// A matrix in device memory: element (row, column) of a head is data[row * stride + head * head_columns + column].
template <class Number>
struct Matrix {
  Number* data = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t head_columns = 0;

  WIC_DEVICE Number& at(std::uint32_t row, std::uint32_t head, std::uint32_t column) const {
    return data[std::size_t{row} * stride + head * head_columns + column];
  }
};

enum class Activation : std::uint8_t { none, relu, gelu };

/// to = activation(scale * left * right), per head.
struct Product {
  GemmSize size;
  Image image = {};
  Matrix<const Bf16> left;   ///< size.rows x size.depth; with an image, its pixels x channels
  Matrix<const Bf16> right;  ///< size.columns x size.depth; right_by_depth: size.depth x size.columns
  Matrix<Bf16> to;           ///< size.rows x size.columns
  float scale = 1;
  Activation activation = Activation::none;

  /// An element of the left factor.
  WIC_DEVICE float left_at(std::uint32_t row, std::uint32_t head, std::uint32_t k) const {
    if (image.channels == 0) return to_float(left.at(row, head, k));
    const std::uint32_t tap = k / image.channels, pixels = image.width * image.height;
    const std::uint32_t column = row % image.width + tap % 3,
                        line = row % pixels / image.width + tap / 3;  // 1 too large
    if (column == 0 || column > image.width || line == 0 || line > image.height) return 0;
    return to_float(left.at(row / pixels * pixels + (line - 1) * image.width + column - 1, 0, k % image.channels));
  }
  /// Columns of `depth` after which a row of the left factor begins again, at another tap.
  WIC_DEVICE std::uint32_t columns_of_left() const { return image.channels == 0 ? size.depth : image.channels; }
  /// Rows before and after its own that a row of an image needs.
  WIC_DEVICE std::uint32_t halo() const { return image.channels == 0 ? 0 : image.width + 1; }
};

/// What a stage needs of an earlier one's result.
struct Need {
  wic::TileSync<Parts> sync;  ///< without semaphores: it waits for no tiles
  std::uint32_t rows = 0;     ///< of that result
  std::uint32_t tile_rows = 1, tile_columns = 1;
  std::uint32_t head_columns = 1, head_tiles = 1;  ///< of that result: a head's columns, and its tiles in a row
  std::uint32_t span = 1;          ///< columns, a multiple of a product's step: each such part has its own semaphores
  std::uint32_t first_row = 0;     ///< row of the factor that is that result's first one
  std::uint32_t first_column = 0;  ///< column of that result that is the factor's first one

  WIC_DEVICE explicit operator bool() const { return sync.semaphores != nullptr; }

  /// That result's row of tiles with a row of the factor's, and the semaphore of its part with the factor's `column`.
  WIC_DEVICE std::uint32_t tile_row(std::uint32_t row) const { return (row < rows ? row : rows - 1) / tile_rows; }
  WIC_DEVICE std::uint32_t semaphore(std::uint32_t tile_row, std::uint32_t column) const {
    column += first_column;
    const std::uint32_t tile = column / head_columns * head_tiles + column % head_columns / tile_columns;
    return sync.policy.semaphore({tile, tile_row});
  }

  /// Waits until that result's rows `first` to `last` are there in the part with the factor's `column`. False: a wait
  /// took too long.
  WIC_DEVICE bool wait(const wic::Thread& thread, const wic::Group& group, std::uint32_t run, std::uint32_t first,
                       std::uint32_t last, std::uint32_t column) const {
    std::uint32_t before = ~0u;
    for (std::uint32_t row = tile_row(first); row <= tile_row(last); ++row) {
      const std::uint32_t next = semaphore(row, column);
      if (next == before) continue;
      if (!sync.wait(thread, group, run, next)) return false;
      before = next;
    }
    return true;
  }

#if WIC_ON_GPU
  /// The same for a warp, whose lanes first look at all of these semaphores at once. `known`: 1 + a semaphore that is
  /// complete in this run, or 0.
  __device__ bool wait_as_warp(const wic::Thread& thread, const wic::Group& group, std::uint32_t run,
                               std::uint32_t first, std::uint32_t last, std::uint32_t column,
                               std::uint32_t& known) const {
    constexpr unsigned kAll = 0xffffffffu;
    for (std::uint32_t row = tile_row(first); row <= tile_row(last); row += wic::kWarpSize) {
      const std::uint32_t mine = semaphore(row + thread.lane() <= tile_row(last) ? row + thread.lane() : row, column);
      bool there = mine + 1 == known, seen = false;
      if (__all_sync(kAll, there)) continue;
      for (;;) {
        // After a wait for one, which as a rule is the last, the others are looked at once more.
        if (!there) there = seen = sync.ready(thread, run, mine);
        unsigned missing = __ballot_sync(kAll, !there);
        if (missing == 0) break;
        const std::uint32_t next = __shfl_sync(kAll, mine, 31 - __clz(missing));
        if (!sync.wait(thread, group, run, next)) return false;
        there = there || mine == next;
        if (__all_sync(kAll, there)) break;
      }
      if (__any_sync(kAll, seen)) thread.fence_acquire();
      known = mine + 1;
    }
    return true;
  }
#endif
};

}  // namespace sample::tiles
