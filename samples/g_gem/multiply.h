// The product of one tile of C, by a block of any size.
//
// Numbers are words and the arithmetic is modulo 2^32, so the order of summation does not matter and all compilers
// agree in every bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/thread.h"

namespace sample::gem {

using Word = std::uint32_t;

/// Consecutive rows of a matrix.
struct Rows {
  const Word* words = nullptr;
  std::uint32_t count = 0;
};

/// C += A[:, first .. first + rows.count - 1] * rows, where A has `inner` columns.
struct Factor {
  Rows rows;                ///< of B
  std::uint32_t first = 0;  ///< index of rows' first row in B; also the first column of A
};

/// A tile has half as many rows as a block has threads, and 64 columns; each thread computes 8 x 4 words. Columns of A
/// and rows of B pass through shared memory, `kDepth` at a time.
struct Tiling {
  static constexpr std::uint32_t kColumns = 64, kDepth = 16;
  static constexpr std::uint32_t kThreadRows = 8, kThreadColumns = 4;
  static constexpr std::uint32_t kThreadsAcross = kColumns / kThreadColumns;

  WIC_DEVICE static constexpr std::uint32_t rows(std::uint32_t threads) {
    return threads / kThreadsAcross * kThreadRows;
  }
  /// Distance between columns of A in shared memory: 16-byte aligned, with padding against bank conflicts.
  WIC_DEVICE static constexpr std::uint32_t column_stride(std::uint32_t threads) { return rows(threads) + 4; }
  static constexpr std::uint32_t shared_bytes(std::uint32_t threads) {
    return kDepth * (column_stride(threads) + kColumns) * static_cast<std::uint32_t>(sizeof(Word));
  }
  WIC_DEVICE static constexpr std::uint32_t tiles(std::uint32_t threads, std::uint32_t rows_of_c,
                                                  std::uint32_t columns) {
    return (rows_of_c + rows(threads) - 1) / rows(threads) * ((columns + kColumns - 1) / kColumns);
  }
};

/// The operands of a product: A and C have `rows` rows; A, B and C have n columns.
struct Matrices {
  const Word* a = nullptr;
  Word* c = nullptr;
  std::uint32_t rows = 0;
  std::uint32_t n = 0;
};

/// Adds the product with `factor` to a tile of C. All threads of the block; `tile` below Tiling::tiles().
WIC_DEVICE inline void multiply_tile(const wic::Thread& thread, const Matrices& m, std::uint32_t tile,
                                     const Factor& factor) {
  constexpr std::uint32_t kDown = Tiling::kThreadRows, kAcross = Tiling::kThreadColumns;
  struct alignas(16) Four {
    Word words[4];
  };
  const std::uint32_t threads = thread.block_size();
  const std::uint32_t tile_rows = Tiling::rows(threads), stride = Tiling::column_stride(threads);
  const std::uint32_t tiles_across = (m.n + Tiling::kColumns - 1) / Tiling::kColumns;
  const std::uint32_t first_row = tile / tiles_across * tile_rows,
                      first_column = tile % tiles_across * Tiling::kColumns;
  const std::uint32_t my_row = thread.index() / Tiling::kThreadsAcross * kDown;
  const std::uint32_t my_column = thread.index() % Tiling::kThreadsAcross * kAcross;
  Word* const shared_a = static_cast<Word*>(thread.shared());  // by columns
  Word* const shared_b = shared_a + Tiling::kDepth * stride;   // by rows

  Word sum[kDown][kAcross] = {};
  for (std::uint32_t begin = 0; begin < factor.rows.count; begin += Tiling::kDepth) {
    thread.sync_block();  // all threads have finished with the previous contents
    for (std::uint32_t i = thread.index(); i < Tiling::kDepth * tile_rows; i += threads) {
      const std::uint32_t row = i / Tiling::kDepth, k = i % Tiling::kDepth;
      const bool inside = first_row + row < m.rows && begin + k < factor.rows.count;
      shared_a[k * stride + row] = inside ? m.a[std::size_t{first_row + row} * m.n + factor.first + begin + k] : 0;
    }
    for (std::uint32_t i = thread.index(); i < Tiling::kDepth * Tiling::kColumns; i += threads) {
      const std::uint32_t k = i / Tiling::kColumns, column = i % Tiling::kColumns;
      const bool inside = first_column + column < m.n && begin + k < factor.rows.count;
      shared_b[i] = inside ? factor.rows.words[std::size_t{begin + k} * m.n + first_column + column] : 0;
    }
    thread.sync_block();
    for (std::uint32_t k = 0; k < Tiling::kDepth; ++k) {
      const auto* const of_a = reinterpret_cast<const Four*>(shared_a + k * stride + my_row);
      const Four down[2] = {of_a[0], of_a[1]};
      const Four across = *reinterpret_cast<const Four*>(shared_b + k * Tiling::kColumns + my_column);
      for (std::uint32_t r = 0; r < kDown; ++r) {
        for (std::uint32_t c = 0; c < kAcross; ++c) sum[r][c] += down[r / 4].words[r % 4] * across.words[c];
      }
    }
    thread.step();
  }
  for (std::uint32_t r = 0; r < kDown; ++r) {
    const std::uint32_t row = first_row + my_row + r;
    if (row >= m.rows) break;
    for (std::uint32_t c = 0; c < kAcross; ++c) {
      const std::uint32_t column = first_column + my_column + c;
      if (column < m.n) m.c[std::size_t{row} * m.n + column] += sum[r][c];
    }
  }
}

}  // namespace sample::gem
