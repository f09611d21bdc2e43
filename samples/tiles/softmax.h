// The softmax of rows, with dropout, as one stage of a chain (wic/tile_chain.h): a tile is a number of rows of a head.
#pragma once

#include <cmath>
#include <cstdint>

#include "tiles/product.h"
#include "tiles/scrambled.h"
#include "wic/launch.h"
#include "wic/tiles.h"

namespace sample::tiles {

/// to = dropout(softmax(from)), per row and head.
struct SoftmaxRows {
  std::uint32_t rows = 0, columns = 0, heads = 1;  ///< columns: a multiple of 8
  Matrix<const Bf16> from;
  Matrix<Bf16> to;
  std::uint32_t dropped_in_256 = 0;  ///< numbers that become 0, by a fixed choice; the others grow accordingly

  WIC_DEVICE float factor(std::uint32_t row, std::uint32_t head, std::uint32_t column) const {
    const std::uint32_t at = (row * heads + head) * columns + column;
    return (scrambled(at + 17) & 0xffu) < dropped_in_256 ? 0.0f : 256.0f / static_cast<float>(256 - dropped_in_256);
  }
};

struct Softmax {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;
  static constexpr std::uint32_t kRows =
      16;  ///< of a tile; divides the rows of all products' tiles, and the warps of a block divide it
  static constexpr std::uint32_t kPack = 8;  ///< numbers of an access

  wic::TileQueue queue;
  wic::TileOrder order;  ///< of grid()
  wic::TileSync<Parts> done;
  Need need;
  bool after_earlier;
  SoftmaxRows work;

  static constexpr wic::TileGrid grid(std::uint32_t rows, std::uint32_t heads) {
    return {heads, (rows + kRows - 1) / kRows};
  }
  /// Of dynamic shared memory, for a block of that many threads.
  static constexpr std::uint32_t shared_bytes(std::uint32_t threads) {
    return sizeof(Partial) * threads + sizeof(wic::TileTicket);
  }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    thread.release_dependents();
    auto* const partial = static_cast<Partial*>(thread.shared());
    auto* const ticket = reinterpret_cast<wic::TileTicket*>(partial + thread.block_size());
    const wic::Group group = wic::block_group(thread);
    const std::uint32_t warp = thread.index() / wic::kWarpSize, warps = thread.block_size() / wic::kWarpSize;
    if (after_earlier) thread.wait_for_earlier_kernels();
    for (;;) {
      if (thread.index() == 0) *ticket = queue.take(thread);
      thread.sync_block();
      const wic::TileTicket tile = *ticket;
      thread.sync_block();
      if (!tile) return;
      const wic::TilePlace place = order.place(tile.index);
      const std::uint32_t first = place.row * kRows, head = place.column;
      if (need && !need.wait(thread, group, tile.run, first, first + kRows - 1, head * work.from.head_columns))
        continue;
      for (std::uint32_t row = first + warp; row < first + kRows; row += warps) {
        one_row(thread, partial + warp * wic::kWarpSize, row, head);
      }
      thread.fence_async_copies();  // the next stage reads the tile by bulk copies
      thread.sync_block();
      if (thread.index() == 0 && done.semaphores != nullptr) done.post(thread, tile.run, place);
    }
  }

 private:
  struct Partial {
    float largest, sum;  // sum: of exp(x - largest)
  };
  struct alignas(16) Pack {
    Bf16 numbers[kPack];
  };

  // A warp's row: every lane's part of it, and then what all lanes have found. All warps of the block call it together,
  // also for rows that do not exist.
  WIC_DEVICE void one_row(const wic::Thread& thread, Partial* partial, std::uint32_t row, std::uint32_t head) const {
    const std::uint32_t packs = row < work.rows ? work.columns / kPack : 0;
    const auto* const from = reinterpret_cast<const Pack*>(&work.from.at(row, head, 0));
    auto* const to = reinterpret_cast<Pack*>(&work.to.at(row, head, 0));
    Partial mine{-3e38f, 0};
    for (std::uint32_t i = thread.lane(); i < packs; i += wic::kWarpSize) {
      const Pack pack = from[i];
      float largest = mine.largest;
      for (const Bf16 number : pack.numbers) largest = fmaxf(largest, to_float(number));
      mine = {largest, mine.sum * expf(mine.largest - largest)};
      for (const Bf16 number : pack.numbers) mine.sum += expf(to_float(number) - largest);
      thread.step();
    }
    partial[thread.lane()] = mine;
    thread.sync_block();
    Partial all{-3e38f, 0};
    for (std::uint32_t i = 0; i < wic::kWarpSize; ++i) all.largest = fmaxf(all.largest, partial[i].largest);
    for (std::uint32_t i = 0; i < wic::kWarpSize; ++i)
      all.sum += partial[i].sum * expf(partial[i].largest - all.largest);
    thread.sync_block();
    for (std::uint32_t i = thread.lane(); i < packs; i += wic::kWarpSize) {
      Pack pack = from[i];
      for (std::uint32_t k = 0; k < kPack; ++k) {
        const float share = expf(to_float(pack.numbers[k]) - all.largest) / all.sum;
        pack.numbers[k] = to_bf16(share * work.factor(row, head, i * kPack + k));
      }
      to[i] = pack;
      thread.step();
    }
  }
};

}  // namespace sample::tiles
