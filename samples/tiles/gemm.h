// A matrix product on tiles, as one stage of a chain (wic/tile_chain.h), in bfloat16 with float sums. The left factor
// may be the implicit matrix of a convolution. Both factors are stored by rows of the common dimension, as linear
// layers store them, or the right one by rows of its columns.
//
// On Hopper one warp copies tiles of the factors to shared memory (TMA) and takes the waits for other stages; one
// or two warpgroups multiply them (wgmma) and write the result; one more warp posts the tiles. Elsewhere, and on the
// CPU device, the same chain of tiles runs with plain loops.
#pragma once

#include <cmath>
#include <cstdint>

#include "tiles/product.h"
#include "wic/launch.h"
#include "wic/tiles.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SAMPLE_TILES_HOPPER 1
#include "tiles/hopper.h"
#else
#define SAMPLE_TILES_HOPPER 0
#endif

namespace sample::tiles {

template <std::uint32_t kTileRows, std::uint32_t kTileColumns, std::uint32_t kStageCount, std::uint32_t kBlocksPerSm,
          bool kByDepth = false>
struct Gemm {
  static constexpr std::uint32_t kRows = kTileRows, kColumns = kTileColumns;
  static constexpr bool kRightByDepth = kByDepth;
  static constexpr std::uint32_t kDepth = 64;  ///< of a step: 128 bytes per row, the widest swizzle
  static constexpr std::uint32_t kStages = kStageCount;
  static constexpr std::uint32_t kWarpgroups = kRows / 64;
  static constexpr std::uint32_t kMultipliers = kWarpgroups * 128;  // threads
  static constexpr int kMaxThreads = kMultipliers + 2 * wic::kWarpSize, kMinBlocksPerSm = kBlocksPerSm;
  static constexpr std::uint32_t kLeftBytes = kRows * kDepth * 2, kRightBytes = kColumns * kDepth * 2;
  static constexpr std::uint32_t kOutbox = 2;  ///< tiles that are written and not yet posted
  /// Of dynamic shared memory; the tiles start at a multiple of 1,024.
  static constexpr std::uint32_t kSharedBytes = kStages * (kLeftBytes + kRightBytes + 24) + 24 * kOutbox + 1024;
  static constexpr std::uint32_t kLoaderBarrier = 1;
  static_assert(!kByDepth || kColumns % 64 == 0);

  TensorMap left_map, right_map;
  wic::TileQueue queue;
  wic::TileOrder order;        ///< of grid()
  wic::TileSync<Parts> done;   ///< of this stage; without semaphores: nobody waits for it
  Need left_need, right_need;  ///< of the stages that compute the factors
  bool after_earlier;          ///< the factors are ready when the kernels before this one have ended, and not earlier
  bool right_is_computed;      ///< by an earlier kernel, rather than there from the beginning
  std::uint32_t ahead_steps;   ///< steps of a block's first right tile that go to the L2 cache before its first wait
  Product product;

  static constexpr WIC_DEVICE std::uint32_t head_tiles(const GemmSize& size) {
    return (size.columns + kColumns - 1) / kColumns;
  }
  /// The tiles of all heads, side by side.
  static constexpr wic::TileGrid grid(const GemmSize& size) {
    return {head_tiles(size) * size.heads, (size.rows + kRows - 1) / kRows};
  }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    thread.release_dependents();  // whoever waits for our tiles does so tile by tile
#if SAMPLE_TILES_HOPPER
    run_on_hopper(thread);
#else
    run_plainly(thread);
#endif
  }

 private:
  /// Of tanh's approximation, as GPT-2 and GPT-3 use it.
  static WIC_DEVICE float gelu_of(float x) {
    const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
#if WIC_ON_GPU
    float t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inner));
    return 0.5f * x * (1.0f + t);
#else
    return 0.5f * x * (1.0f + tanhf(inner));
#endif
  }
  WIC_DEVICE float result(float sum) const {
    const float x = product.scale * sum;
    if (product.activation == Activation::gelu) return gelu_of(x);
    return product.activation == Activation::relu && x < 0 ? 0.0f : x;
  }

  /// A tile's first row, column and head.
  struct Corner {
    std::uint32_t row, column, head;
  };
  WIC_DEVICE Corner corner(const wic::TilePlace& place) const {
    const std::uint32_t tiles = head_tiles(product.size);
    return {place.row * kRows, place.column % tiles * kColumns, place.column / tiles};
  }

  // Rows of a factor, and the first column of a part of it.
  struct Needed {
    std::uint32_t first, last, column;
  };
  // What a tile's part of the left factor that begins at `depth` needs of it.
  WIC_DEVICE Needed needed_left(const Corner& corner, std::uint32_t depth) const {
    const std::uint32_t halo = product.halo();
    return {corner.row > halo ? corner.row - halo : 0, corner.row + kRows - 1 + halo,
            corner.head * product.left.head_columns + depth};
  }
  // What a tile needs of the right factor's result, if anything: by depth all rows, else those of the tile's columns.
  WIC_DEVICE bool needed_right(const Corner& corner, Needed& needed) const {
    const std::uint32_t before = right_need.first_row;  // rows of the factor that are there
    std::uint32_t from = 0, to = product.size.depth - 1;
    if constexpr (!kByDepth) {
      from = corner.column > before ? corner.column - before : 0;
      to = corner.column + kColumns - 1;
    }
    needed = {from, to - before, corner.head * product.right.head_columns};
    return to >= before;
  }

  // Every thread computes some elements of the tile; the whole block waits.
  WIC_DEVICE void run_plainly(const wic::Thread& thread) const {
    auto* const shared = static_cast<wic::TileTicket*>(thread.shared());
    const wic::Group group = wic::block_group(thread);
    const GemmSize& size = product.size;
    if (after_earlier) thread.wait_for_earlier_kernels();
    for (;;) {
      if (thread.index() == 0) *shared = queue.take(thread);
      thread.sync_block();
      const wic::TileTicket tile = *shared;
      thread.sync_block();
      if (!tile) return;
      const wic::TilePlace place = order.place(tile.index);
      const Corner at = corner(place);
      bool ready = true;
      Needed needed;
      if (right_need && needed_right(at, needed)) {
        ready = right_need.wait(thread, group, tile.run, needed.first, needed.last, needed.column);
      }
      for (std::uint32_t depth = 0; ready && left_need && depth < product.columns_of_left(); depth += left_need.span) {
        needed = needed_left(at, depth);
        ready = left_need.wait(thread, group, tile.run, needed.first, needed.last, needed.column);
      }
      if (!ready) continue;
      for (std::uint32_t i = thread.index(); i < kRows * kColumns; i += thread.block_size()) {
        const std::uint32_t row = at.row + i / kColumns, column = at.column + i % kColumns;
        if (row >= size.rows || column >= size.columns) continue;
        float sum = 0;
        for (std::uint32_t k = 0; k < size.depth; ++k) {
          sum += product.left_at(row, at.head, k) *
                 to_float(kByDepth ? product.right.at(k, at.head, column) : product.right.at(column, at.head, k));
        }
        product.to.at(row, at.head, column) = to_bf16(result(sum));
        thread.step();
      }
      thread.fence_async_copies();
      thread.sync_block();
      if (thread.index() == 0 && done.semaphores != nullptr) done.post(thread, tile.run, place);
    }
  }

#if SAMPLE_TILES_HOPPER
  // A ring of kStages steps in shared memory. The loader fills a step when its multipliers have left it.
  struct Ring {
    unsigned char* tiles;
    std::uint64_t* full;
    std::uint64_t* empty;
    wic::TileTicket* tickets;  // of the tile whose first step this is
    std::uint64_t* written;    // of the outbox: a tile's multipliers have written it
    std::uint64_t* posting;    // its ticket has been read
    wic::TileTicket* outbox;

    __device__ explicit Ring(const wic::Thread& thread) {
      const std::uint64_t shared = reinterpret_cast<std::uint64_t>(thread.shared());
      tiles = reinterpret_cast<unsigned char*>((shared + 1023) / 1024 * 1024);
      full = reinterpret_cast<std::uint64_t*>(tiles + kStages * (kLeftBytes + kRightBytes));
      empty = full + kStages;
      tickets = reinterpret_cast<wic::TileTicket*>(empty + kStages);
      written = reinterpret_cast<std::uint64_t*>(tickets + kStages);
      posting = written + kOutbox;
      outbox = reinterpret_cast<wic::TileTicket*>(posting + kOutbox);
    }
    __device__ unsigned char* left(std::uint32_t slot) const { return tiles + slot * kLeftBytes; }
    __device__ unsigned char* right(std::uint32_t slot) const {
      return tiles + kStages * kLeftBytes + slot * kRightBytes;
    }
  };
  template <std::uint32_t kSlots>
  struct Slot {
    std::uint32_t slot = 0, parity = 0;
    __device__ void advance() {
      if (++slot == kSlots) {
        slot = 0;
        parity ^= 1;
      }
    }
  };
  using Place = Slot<kStages>;

  // Copies a tile's steps of the left factor, one after the other.
  struct LeftSteps {
    std::uint32_t column, row;  // of a plain matrix
    hopper::Pixel pixel;        // of an image
    std::uint32_t tap_column = 0, tap_row = 0;

    __device__ LeftSteps(const Product& product, const Corner& corner)
        : column(corner.head * product.left.head_columns), row(corner.row) {
      if (product.image.channels == 0) return;
      const auto width = product.image.width, pixels = width * product.image.height;
      pixel = {static_cast<int>(row % width) - 1, static_cast<int>(row % pixels / width) - 1,
               static_cast<int>(row / pixels)};
    }
    __device__ void copy(const Product& product, void* to, const TensorMap& map, std::uint64_t* barrier) {
      if (product.image.channels == 0) {
        hopper::copy_box(to, &map, barrier, column, row);
        column += kDepth;
        return;
      }
      hopper::copy_pixels(to, &map, barrier, column, pixel, tap_column, tap_row);
      column += kDepth;
      if (column < product.image.channels) return;
      column = 0;
      if (++tap_column < 3) return;
      tap_column = 0;
      ++tap_row;
    }
  };

  __device__ void run_on_hopper(const wic::Thread& thread) const {
    const Ring ring(thread);
    if (thread.index() == 0) {
      for (std::uint32_t i = 0; i < kStages; ++i) {
        hopper::barrier_init(&ring.full[i], 1);
        hopper::barrier_init(&ring.empty[i], kMultipliers / wic::kWarpSize);
      }
      for (std::uint32_t i = 0; i < kOutbox; ++i) {
        hopper::barrier_init(&ring.written[i], kMultipliers / wic::kWarpSize);
        hopper::barrier_init(&ring.posting[i], 1);
      }
      hopper::barrier_init_fence();
    }
    thread.sync_block();
    if (thread.index() < kMultipliers) {
      multiply(thread, ring);
    } else if (thread.index() < kMultipliers + wic::kWarpSize) {
      load(thread, ring);
    } else if (thread.lane() == 0 && done.semaphores != nullptr) {
      post(thread, ring);
    }
  }

  // One warp. Lane 0 takes tiles and starts copies; all lanes wait for other stages.
  __device__ void load(const wic::Thread& thread, const Ring& ring) const {
    const wic::Group group{kMultipliers, wic::kWarpSize, kLoaderBarrier, wic::Pollers::leader};
    const bool leader = thread.lane() == 0;
    if (leader) {
      hopper::prefetch_map(&left_map);
      hopper::prefetch_map(&right_map);
    }
    const std::uint32_t steps = (product.size.depth + kDepth - 1) / kDepth;
    Place at;
    bool first = true;
    bool waiting_left = static_cast<bool>(left_need), waiting_right = static_cast<bool>(right_need);
    bool after_others = after_earlier;
    std::uint32_t known_left = 0, known_right = 0;
    for (;;) {
      wic::TileTicket tile;
      if (leader) tile = queue.take(thread);
      tile.index = __shfl_sync(0xffffffffu, tile.index, 0);
      tile.run = __shfl_sync(0xffffffffu, tile.run, 0);
      if (!tile) break;
      const Corner tile_at = corner(order.place(tile.index));
      // What needs no other kernel comes before the block's first wait.
      std::uint32_t right_loaded = 0;
      if (first && (waiting_left || after_others) && !right_is_computed) {
        Place ahead = at;
        for (; right_loaded < steps && right_loaded < kStages; ++right_loaded, ahead.advance()) {
          if (leader) begin_step(ring, ahead, right_loaded == 0, tile, tile_at, right_loaded);
        }
        for (std::uint32_t step = right_loaded; leader && step < right_loaded + ahead_steps && step < steps; ++step) {
          prefetch_right(tile_at, step);
        }
      }
      first = false;
      if (after_others) {
        thread.wait_for_earlier_kernels();
        thread.fence_async_copies();
        after_others = false;
      }
      // A failed wait leaves the tile without its data; the chain then reports the failure.
      if (waiting_right) {
        Needed needed;
        if (needed_right(tile_at, needed)) {
          waiting_right =
              right_need.wait_as_warp(thread, group, tile.run, needed.first, needed.last, needed.column, known_right);
        }
        thread.fence_async_copies();
      }
      LeftSteps left(product, tile_at);
      std::uint32_t next_wait = waiting_left ? 0 : ~0u;
      for (std::uint32_t step = 0; step < steps; ++step, at.advance()) {
        if (step * kDepth >= next_wait) {
          const Needed needed = needed_left(tile_at, step * kDepth);
          waiting_left =
              left_need.wait_as_warp(thread, group, tile.run, needed.first, needed.last, needed.column, known_left);
          thread.fence_async_copies();
          next_wait += left_need.span;
          if (!waiting_left || next_wait >= product.columns_of_left()) next_wait = ~0u;
        }
        if (leader) {
          if (step >= right_loaded) begin_step(ring, at, step == 0, tile, tile_at, step);
          left.copy(product, ring.left(at.slot), left_map, &ring.full[at.slot]);
        }
      }
    }
    if (leader) {
      hopper::barrier_wait(&ring.empty[at.slot], at.parity ^ 1);
      ring.tickets[at.slot] = {};
      hopper::barrier_arrive(&ring.full[at.slot]);
    }
    thread.sync_warp();
  }

  // Waits for the slot, and starts the copy of the right factor.
  __device__ void begin_step(const Ring& ring, const Place& at, bool first_of_tile, const wic::TileTicket& tile,
                             const Corner& corner, std::uint32_t step) const {
    hopper::barrier_wait(&ring.empty[at.slot], at.parity ^ 1);
    if (first_of_tile) ring.tickets[at.slot] = tile;
    hopper::barrier_arrive_expecting(&ring.full[at.slot], kLeftBytes + kRightBytes);
    const std::uint32_t head = corner.head * product.right.head_columns;
    if constexpr (kByDepth) {
      for (std::uint32_t i = 0; i < kColumns / 64; ++i) {
        hopper::copy_box(ring.right(at.slot) + i * kDepth * 128, &right_map, &ring.full[at.slot],
                         head + corner.column + i * 64, step * kDepth);
      }
    } else if (product.size.rows <= kRows) {
      hopper::copy_box_read_once(ring.right(at.slot), &right_map, &ring.full[at.slot], head + step * kDepth,
                                 corner.column);
    } else {
      hopper::copy_box(ring.right(at.slot), &right_map, &ring.full[at.slot], head + step * kDepth, corner.column);
    }
  }
  __device__ void prefetch_right(const Corner& corner, std::uint32_t step) const {
    const std::uint32_t head = corner.head * product.right.head_columns;
    if constexpr (kByDepth) {
      for (std::uint32_t i = 0; i < kColumns / 64; ++i) {
        hopper::prefetch_box(&right_map, head + corner.column + i * 64, step * kDepth);
      }
    } else {
      hopper::prefetch_box(&right_map, head + step * kDepth, corner.column);
    }
  }

  __device__ void multiply(const wic::Thread& thread, const Ring& ring) const {
    const std::uint32_t warpgroup = thread.index() / 128;
    const std::uint32_t steps = (product.size.depth + kDepth - 1) / kDepth;
    // Of 16 columns of a factor, or 16 rows, in descriptors.
    constexpr std::uint32_t kRightStep = kByDepth ? 16 * 128 / 16 : 2;
    Place at;
    Slot<kOutbox> out;
    float sums[kColumns / 2];
    for (;;) {
      hopper::barrier_wait(&ring.full[at.slot], at.parity);
      const wic::TileTicket tile = ring.tickets[at.slot];
      thread.sync_warp();  // all lanes have read the ticket before lane 0 gives the slot back
      if (!tile) {
        hand_over(thread, ring, tile, out);
        return;
      }
      std::uint32_t before = 0;
      for (std::uint32_t step = 0; step < steps; ++step) {
        if (step != 0) hopper::barrier_wait(&ring.full[at.slot], at.parity);
        const std::uint64_t a = hopper::tile_descriptor(ring.left(at.slot) + warpgroup * 64 * 128);
        const std::uint64_t b = hopper::tile_descriptor(ring.right(at.slot), kByDepth ? kDepth * 128 : 16);
        hopper::wgmma_begin();
#pragma unroll
        for (std::uint32_t k = 0; k < kDepth / 16; ++k) {
          hopper::Wgmma<kColumns, kByDepth ? 1 : 0>::run(sums, a + 2 * k, b + kRightStep * k, step != 0 || k != 0);
        }
        hopper::wgmma_commit();
        if (step != 0) {
          hopper::wgmma_wait<1>();
          if (thread.lane() == 0) hopper::barrier_arrive(&ring.empty[before]);
        }
        before = at.slot;
        at.advance();
      }
      hopper::wgmma_wait<0>();
      if (thread.lane() == 0) hopper::barrier_arrive(&ring.empty[before]);
      write(thread, tile, sums);
      hand_over(thread, ring, tile, out);
    }
  }

  // The multipliers have written the tile: the posting warp may post it. Posting takes as long as a trip to memory,
  // during which the multipliers begin with the next tile.
  __device__ void hand_over(const wic::Thread& thread, const Ring& ring, const wic::TileTicket& tile,
                            Slot<kOutbox>& out) const {
    if (done.semaphores == nullptr) return;
    thread.fence_async_copies();  // the next stage reads the tile by bulk copies
    thread.sync_warp();
    if (thread.lane() == 0) {
      hopper::barrier_wait(&ring.posting[out.slot], out.parity ^ 1);
      if (thread.index() == 0) ring.outbox[out.slot] = tile;
      hopper::barrier_arrive(&ring.written[out.slot]);
    }
    out.advance();
  }
  // One thread.
  __device__ void post(const wic::Thread& thread, const Ring& ring) const {
    for (Slot<kOutbox> out;; out.advance()) {
      hopper::barrier_wait(&ring.written[out.slot], out.parity);
      const wic::TileTicket tile = ring.outbox[out.slot];
      hopper::barrier_arrive(&ring.posting[out.slot]);
      if (!tile) return;
      done.post(thread, tile.run, order.place(tile.index));
    }
  }

  __device__ void write(const wic::Thread& thread, const wic::TileTicket& tile,
                        const float (&sums)[kColumns / 2]) const {
    const wic::TilePlace place = order.place(tile.index);
    const Corner tile_at = corner(place);
    const std::uint32_t row = tile_at.row + thread.index() / 32 * 16 + thread.lane() / 4;
    const std::uint32_t column = tile_at.column + thread.lane() % 4 * 2;
#pragma unroll
    for (std::uint32_t half = 0; half < 2; ++half) {
      if (row + 8 * half >= product.size.rows) continue;
      Bf16* const line = &product.to.at(row + 8 * half, tile_at.head, 0);
#pragma unroll
      for (std::uint32_t i = 0; i < kColumns / 8; ++i) {
        if (column + 8 * i >= product.size.columns) continue;
        std::uint32_t pair;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
            : "=r"(pair)
            : "f"(result(sums[4 * i + 2 * half + 1])), "f"(result(sums[4 * i + 2 * half])));
        *reinterpret_cast<std::uint32_t*>(line + column + 8 * i) = pair;
      }
    }
  }
#endif
};

}  // namespace sample::tiles
