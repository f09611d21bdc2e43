// A station's kernels: `Receive` makes the products of the previous batch and then receives a batch; `Distribute` makes
// the products of the last batch.
#pragma once

#include "c_srs/filter.h"
#include "c_srs/resample.h"
#include "wic/receiver.h"

namespace sample::srs {

/// Missed deadlines on one device, in device memory.
struct DeviceFailure {
  std::uint32_t missed;     ///< tiles that did not arrive in time
  std::uint32_t failed_at;  ///< batch of the first missed tile; 0 = none
  std::uint32_t tile;       ///< index of that tile in the batch
};

/// A block's shared memory.
struct BlockWork {
  std::uint64_t digest;
  std::uint32_t is_last;
  std::uint32_t histogram[kBins];
};

/// Makes the products of a received batch. All warps of the grid share the rows of the pictures.
struct Products {
  BatchShape shape;
  const Pixel* smooth;     ///< the batch's filtered tiles; nullptr: no batch
  const Stretch* stretch;  ///< of that batch
  Shade* shades;           ///< output: shape.product_pixels() per tile
  std::uint64_t* digest;   ///< output: digest of all shades; 0 before

  /// Called by all threads of all blocks. `work`: the block's shared memory, with digest 0 visible to all threads.
  WIC_DEVICE void make(const wic::Thread& thread, BlockWork* work) const {
    if (smooth == nullptr) return;
    const std::uint32_t warps_per_block = thread.block_size() / wic::kWarpSize;
    const std::uint32_t warps = thread.block_count() * warps_per_block;
    const std::uint32_t rows = shape.product_rows();
    const Stretch range = *stretch;
    std::uint64_t sum = 0;
    for (std::uint64_t r = thread.block() * warps_per_block + thread.warp(); r < std::uint64_t{shape.tiles} * rows;
         r += warps) {
      sum += make_row(thread, range, static_cast<std::uint32_t>(r / rows), static_cast<std::uint32_t>(r % rows));
    }
    thread.add(&work->digest, sum);
    thread.sync_block();
    if (thread.index() == 0) thread.add(digest, work->digest);
  }

 private:
  // `row` counts over all of the tile's pictures.
  WIC_DEVICE std::uint64_t make_row(const wic::Thread& thread, const Stretch& range, std::uint32_t tile,
                                    std::uint32_t row) const {
    std::uint32_t index = 0;
    for (; row >= shape.target(index).edge; ++index) row -= shape.target(index).edge;
    const Target target = shape.target(index);
    const Pixel* const from = smooth + std::uint64_t{tile} * shape.tile_pixels();
    const std::uint64_t place =
        std::uint64_t{tile} * shape.product_pixels() + shape.product_begin(index) + std::uint64_t{row} * target.edge;
    std::uint64_t sum = 0;
    for (std::uint32_t x = thread.lane(); x < target.edge; x += wic::kWarpSize) {
      const Shade shade = range.shade(resampled(from, shape.edge, target, x, row), target.shades);
      shades[place + x] = shade;
      sum += digest_of(place + x, shade);
      thread.step();
    }
    return sum;
  }
};

/// The first `receivers` blocks make their share of the products (C1), then wait for tiles and filter each tile (C2).
/// The other blocks make their share and end; they never need the incoming tiles.
struct Receive {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 2;
  static constexpr std::uint32_t kSharedBytes = sizeof(BlockWork);

  wic::Receiver rx;
  wic::Cycle cycle{0};
  std::uint32_t batch;  ///< from 1
  std::uint64_t timeout_ns;
  std::uint32_t receivers;
  Products before;  ///< of the previous batch
  // This batch; device memory.
  Pixel* raw;                ///< its tiles as received
  Pixel* smooth;             ///< its filtered tiles
  std::uint32_t* histogram;  ///< kBins counts, 0 before
  Stretch* stretch;
  std::uint32_t* finished;  ///< finished receivers; 0 before and after
  // Zeroed by this kernel for the next batch.
  std::uint32_t* next_histogram;
  std::uint64_t* next_digest;
  DeviceFailure* failure;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    // Do nothing after a missed deadline. All threads agree, because only earlier batches count.
    const std::uint32_t failed_at = thread.load(&failure->failed_at);
    if (failed_at != 0 && failed_at < batch) return;
    auto* const work = static_cast<BlockWork*>(thread.shared());
    for (std::uint32_t i = thread.index(); i < kBins; i += thread.block_size()) {
      work->histogram[i] = 0;
      if (thread.block() == 0) next_histogram[i] = 0;
    }
    if (thread.index() == 0) {
      work->digest = 0;
      if (thread.block() == 0) *next_digest = 0;
    }
    thread.sync_block();
    before.make(thread, work);
    if (thread.block() < receivers && take_in(thread, work)) finish(thread, work);
  }

 private:
  // False if a tile did not arrive in time.
  WIC_DEVICE bool take_in(const wic::Thread& thread, BlockWork* work) const {
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t tile = thread.block(); tile < before.shape.tiles; tile += receivers) {
      const wic::Message message = rx.receive(thread, group, tile, cycle, timeout_ns);
      if (message.data == nullptr) {
        if (thread.index() == 0 && thread.fetch_add(&failure->missed, 1) == 0) {
          failure->tile = tile;
          thread.store(&failure->failed_at, batch);
        }
        return false;
      }
      // The message may be in host memory, so it is read only once; then its buffer is free for the batch after the
      // next.
      Pixel* const mine = raw + std::uint64_t{tile} * before.shape.tile_pixels();
      wic::copy_bytes(thread, thread.index(), thread.block_size(), reinterpret_cast<std::byte*>(mine), message.data,
                      before.shape.tile_bytes());
      rx.release(thread, group, tile, cycle);  // includes the barrier that the filter needs
      filter(thread, work, mine, smooth + (mine - raw));
    }
    return true;
  }

  WIC_DEVICE void filter(const wic::Thread& thread, BlockWork* work, const Pixel* from, Pixel* to) const {
    const std::uint32_t edge = before.shape.edge;
    for (std::uint32_t y = thread.warp(); y < edge; y += thread.block_size() / wic::kWarpSize) {
      for (std::uint32_t x = thread.lane(); x < edge; x += wic::kWarpSize) {
        const Pixel value = filtered(from, edge, x, y);
        to[y * edge + x] = value;
        thread.fetch_add(&work->histogram[bin_of(value)], 1);
      }
    }
  }

  // The last block has the whole batch's histogram and computes the value range.
  WIC_DEVICE void finish(const wic::Thread& thread, BlockWork* work) const {
    thread.sync_block();
    for (std::uint32_t i = thread.index(); i < kBins; i += thread.block_size()) {
      if (work->histogram[i] != 0) thread.fetch_add(&histogram[i], work->histogram[i]);
    }
    thread.sync_block();
    if (thread.index() == 0) {
      work->is_last = thread.fetch_add_acq_rel(finished, 1) + 1 == receivers ? 1 : 0;
    }
    thread.sync_block();
    if (work->is_last == 0) return;
    for (std::uint32_t i = thread.index(); i < kBins; i += thread.block_size()) {
      work->histogram[i] = thread.load(&histogram[i]);
    }
    thread.sync_block();
    if (thread.index() != 0) return;
    *stretch = stretch_of(work->histogram, before.shape.pixels());
    thread.store(finished, 0);
  }
};

/// Makes only the products of the last batch.
struct Distribute {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 2;

  Products last;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    auto* const work = static_cast<BlockWork*>(thread.shared());
    if (thread.index() == 0) work->digest = 0;
    thread.sync_block();
    last.make(thread, work);
  }
};

}  // namespace sample::srs
