// A matrix product on tiles, as one stage of a chain (wic/tile_chain.h): to = f(left * transposed right), in bfloat16
// with float sums. Both factors are stored by rows of the common dimension, as linear layers store them.
//
// On Hopper one warp copies tiles of the factors to shared memory (TMA) and takes the waits for the stage before; one
// or two warpgroups multiply them (wgmma) and write the result. Elsewhere, and on the CPU device, the same chain of
// tiles runs with plain loops.
#pragma once

#include <cmath>
#include <cstdint>

#include "tiles/bf16.h"
#include "tiles/row_parts.h"
#include "wic/launch.h"
#include "wic/tiles.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SAMPLE_TILES_HOPPER 1
#include "tiles/hopper.h"
#else
#define SAMPLE_TILES_HOPPER 0
#endif

namespace sample::tiles {

/// A CUtensorMap, which describes a matrix to the copy engine; tensor_map.h fills it.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

/// The numbers of one product.
struct GemmSize {
  std::uint32_t rows = 0, columns = 0, depth = 0;  ///< depth and columns: multiples of 8
};

template <std::uint32_t kTileRows, std::uint32_t kTileColumns, std::uint32_t kStageCount, std::uint32_t kBlocksPerSm>
struct Gemm {
  static constexpr std::uint32_t kRows = kTileRows, kColumns = kTileColumns;
  static constexpr std::uint32_t kDepth = 64;  ///< of a step: 128 bytes per row, the widest swizzle
  static constexpr std::uint32_t kStages = kStageCount;
  static constexpr std::uint32_t kWarpgroups = kRows / 64;
  static constexpr std::uint32_t kMultipliers = kWarpgroups * 128;  // threads
  static constexpr int kMaxThreads = kMultipliers + wic::kWarpSize, kMinBlocksPerSm = kBlocksPerSm;
  static constexpr std::uint32_t kLeftBytes = kRows * kDepth * 2, kRightBytes = kColumns * kDepth * 2;
  /// Of dynamic shared memory; the tiles start at a multiple of 1,024.
  static constexpr std::uint32_t kSharedBytes = kStages * (kLeftBytes + kRightBytes + 24) + 1024;
  static constexpr std::uint32_t kLoaderBarrier = 1, kMultiplierBarrier = 2;

  TensorMap left_map, right_map;
  wic::TileQueue queue;
  wic::TileOrder order;
  wic::TileSync<RowParts> done;    ///< of this stage; without semaphores: nobody waits for it
  wic::TileSync<RowParts> needed;  ///< of the stage that computes `left`; without semaphores: no waits for tiles
  bool after_earlier;              ///< `left` is ready when the kernels before this one have ended, and not earlier
  GemmSize size;
  const Bf16* left;   ///< size.rows x size.depth
  const Bf16* right;  ///< size.columns x size.depth
  Bf16* to;           ///< size.rows x size.columns
  bool gelu;          ///< of each result

  static constexpr wic::TileGrid grid(const GemmSize& size) {
    return {(size.columns + kColumns - 1) / kColumns, (size.rows + kRows - 1) / kRows};
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
  WIC_DEVICE float result(float sum) const { return gelu ? gelu_of(sum) : sum; }
  /// The part of the left factor's rows of tiles that holds column `depth`.
  WIC_DEVICE std::uint32_t part_of(std::uint32_t depth) const {
    return depth / kColumns / needed.policy.columns_per_part;
  }

  // Every thread computes some elements of the tile; the whole block waits.
  WIC_DEVICE void run_plainly(const wic::Thread& thread) const {
    auto* const shared = static_cast<wic::TileTicket*>(thread.shared());
    if (after_earlier) thread.wait_for_earlier_kernels();
    for (;;) {
      if (thread.index() == 0) *shared = queue.take(thread);
      thread.sync_block();
      const wic::TileTicket tile = *shared;
      thread.sync_block();
      if (!tile) return;
      const wic::TilePlace place = order.place(tile.index);
      if (needed.semaphores != nullptr) {
        bool ready = true;
        for (std::uint32_t part = 0; ready && part < needed.policy.parts(); ++part) {
          ready = needed.wait(thread, tile.run, place.row * needed.policy.parts() + part);
        }
        if (!ready) continue;
      }
      for (std::uint32_t i = thread.index(); i < kRows * kColumns; i += thread.block_size()) {
        const std::uint32_t row = place.row * kRows + i / kColumns, column = place.column * kColumns + i % kColumns;
        if (row >= size.rows || column >= size.columns) continue;
        float sum = 0;
        for (std::uint32_t k = 0; k < size.depth; ++k) {
          sum +=
              to_float(left[std::size_t{row} * size.depth + k]) * to_float(right[std::size_t{column} * size.depth + k]);
        }
        to[std::size_t{row} * size.columns + column] = to_bf16(result(sum));
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

    __device__ explicit Ring(const wic::Thread& thread) {
      const std::uint64_t shared = reinterpret_cast<std::uint64_t>(thread.shared());
      tiles = reinterpret_cast<unsigned char*>((shared + 1023) / 1024 * 1024);
      full = reinterpret_cast<std::uint64_t*>(tiles + kStages * (kLeftBytes + kRightBytes));
      empty = full + kStages;
      tickets = reinterpret_cast<wic::TileTicket*>(empty + kStages);
    }
    __device__ unsigned char* left(std::uint32_t slot) const { return tiles + slot * kLeftBytes; }
    __device__ unsigned char* right(std::uint32_t slot) const {
      return tiles + kStages * kLeftBytes + slot * kRightBytes;
    }
  };
  struct Place {
    std::uint32_t slot = 0, parity = 0;
    __device__ void advance() {
      if (++slot == kStages) {
        slot = 0;
        parity ^= 1;
      }
    }
  };

  __device__ void run_on_hopper(const wic::Thread& thread) const {
    const Ring ring(thread);
    if (thread.index() == 0) {
      for (std::uint32_t i = 0; i < kStages; ++i) {
        hopper::barrier_init(&ring.full[i], 1);
        hopper::barrier_init(&ring.empty[i], kMultipliers / wic::kWarpSize);
      }
      hopper::barrier_init_fence();
    }
    thread.sync_block();
    if (thread.index() >= kMultipliers) {
      load(thread, ring);
    } else {
      multiply(thread, ring);
    }
  }

  // One warp. Lane 0 takes tiles and starts copies; all lanes wait for the stage before.
  __device__ void load(const wic::Thread& thread, const Ring& ring) const {
    const wic::Group group{kMultipliers, wic::kWarpSize, kLoaderBarrier, wic::Pollers::leader};
    const bool leader = thread.lane() == 0;
    if (leader) {
      hopper::prefetch_map(&left_map);
      hopper::prefetch_map(&right_map);
    }
    Place at;
    bool first = true;
    bool waiting = needed.semaphores != nullptr;  // until a wait has failed
    bool after_others = after_earlier;
    for (;;) {
      wic::TileTicket tile;
      if (leader) tile = queue.take(thread);
      tile.index = __shfl_sync(0xffffffffu, tile.index, 0);
      tile.run = __shfl_sync(0xffffffffu, tile.run, 0);
      if (!tile) break;
      const wic::TilePlace place = order.place(tile.index);
      const std::uint32_t steps = (size.depth + kDepth - 1) / kDepth;
      // What needs no other kernel comes before the block's first wait.
      std::uint32_t right_loaded = 0;
      if (first && (waiting || after_others)) {
        Place ahead = at;
        for (; right_loaded < steps && right_loaded < kStages; ++right_loaded, ahead.advance()) {
          if (leader) begin_step(ring, ahead, right_loaded == 0, tile, place, right_loaded);
        }
      }
      first = false;
      if (after_others) {
        thread.wait_for_earlier_kernels();
        thread.fence_async_copies();
        after_others = false;
      }
      std::uint32_t part = ~0u;
      for (std::uint32_t step = 0; step < steps; ++step, at.advance()) {
        const std::uint32_t here = waiting ? part_of(step * kDepth) : part;
        if (here != part) {
          part = here;
          // A failed wait leaves the tile without its data; the chain then reports the failure.
          waiting = needed.wait(thread, group, tile.run, place.row * needed.policy.parts() + part);
          thread.fence_async_copies();
        }
        if (leader) {
          if (step >= right_loaded) begin_step(ring, at, step == 0, tile, place, step);
          hopper::copy_box(ring.left(at.slot), &left_map, &ring.full[at.slot], step * kDepth, place.row * kRows);
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
                             const wic::TilePlace& place, std::uint32_t step) const {
    hopper::barrier_wait(&ring.empty[at.slot], at.parity ^ 1);
    if (first_of_tile) ring.tickets[at.slot] = tile;
    hopper::barrier_arrive_expecting(&ring.full[at.slot], kLeftBytes + kRightBytes);
    hopper::copy_box(ring.right(at.slot), &right_map, &ring.full[at.slot], step * kDepth, place.column * kColumns);
  }

  __device__ void multiply(const wic::Thread& thread, const Ring& ring) const {
    const std::uint32_t warpgroup = thread.index() / 128;
    const std::uint32_t steps = (size.depth + kDepth - 1) / kDepth;
    Place at;
    float sums[kColumns / 2];
    for (;;) {
      hopper::barrier_wait(&ring.full[at.slot], at.parity);
      const wic::TileTicket tile = ring.tickets[at.slot];
      if (!tile) return;
      std::uint32_t before = 0;
      for (std::uint32_t step = 0; step < steps; ++step) {
        if (step != 0) hopper::barrier_wait(&ring.full[at.slot], at.parity);
        const std::uint64_t a = hopper::tile_descriptor(ring.left(at.slot) + warpgroup * 64 * 128);
        const std::uint64_t b = hopper::tile_descriptor(ring.right(at.slot));
        hopper::wgmma_begin();
#pragma unroll
        for (std::uint32_t k = 0; k < kDepth / 16; ++k) {
          hopper::Wgmma<kColumns>::run(sums, a + 2 * k, b + 2 * k, step != 0 || k != 0);
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
    }
  }

  __device__ void write(const wic::Thread& thread, const wic::TileTicket& tile,
                        const float (&sums)[kColumns / 2]) const {
    const wic::TilePlace place = order.place(tile.index);
    const std::uint32_t row = place.row * kRows + thread.index() / 32 * 16 + thread.lane() / 4;
    const std::uint32_t column = place.column * kColumns + thread.lane() % 4 * 2;
#pragma unroll
    for (std::uint32_t half = 0; half < 2; ++half) {
      if (row + 8 * half >= size.rows) continue;
      Bf16* const line = to + std::size_t{row + 8 * half} * size.columns;
#pragma unroll
      for (std::uint32_t i = 0; i < kColumns / 8; ++i) {
        if (column + 8 * i >= size.columns) continue;
        std::uint32_t pair;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
            : "=r"(pair)
            : "f"(result(sums[4 * i + 2 * half + 1])), "f"(result(sums[4 * i + 2 * half])));
        *reinterpret_cast<std::uint32_t*>(line + column + 8 * i) = pair;
      }
    }
    if (done.semaphores == nullptr) return;
    thread.fence_async_copies();  // the next stage reads the tile by bulk copies
    thread.barrier(kMultiplierBarrier, kMultipliers);
    if (thread.index() == 0) done.post(thread, tile.run, place);
  }
#endif
};

}  // namespace sample::tiles
