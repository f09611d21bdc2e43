// Kernels that wait for kernels, tile by tile: a consumer's tile starts when the producer's tiles that it needs are
// done, while other tiles of the producer still run. See docs/tiles.md.
//
//   struct Producer {                                     struct Consumer {
//     wic::TileQueue queue;                                 wic::TileQueue queue;
//     wic::TileSync<wic::Row> done;                         wic::TileSync<wic::Row> needed;  // the producer's
//     ...                                                   ...
//     thread.release_dependents();                          while (wic::TileTicket tile = ...queue.take(thread)) {
//     while (wic::TileTicket tile = ...) {                    if (!needed.wait(thread, group, tile.run, row)) continue;
//       ... write the tile ...                                ... read the producer's row ...
//       thread.sync_block();                                }
//       if (thread.index() == 0) done.post(thread, tile.run, place);
//     }
//
// The host makes both from a TileChain (wic/tile_chain.h), which launches the kernels.
//
// Why this cannot deadlock: the consumer is a dependent kernel (LaunchShape::dependent), so none of its blocks starts
// before each block of the producer has started. A block that has started is never taken off its SM, so all of the
// producer's tiles will be done, whatever room the consumer's blocks take. Tiles of one kernel may also wait for tiles
// before them in the same kernel's order, since blocks take the tiles in that order. A program that breaks these rules
// (a consumer launched before its producer, a tile that waits for a later one) gets a passed deadline.
//
// Memory: post() releases what the thread has written, and what its block wrote before a barrier; wait() acquires it
// for the whole group. That covers plain loads and stores and cp.async. The GPU's bulk copies (TMA, cp.async.bulk)
// access memory past that order. Where the consumer reads a tile by bulk copies, each thread that wrote a part of the
// tile calls Thread::fence_async_copies() before the barrier that comes before post(), and the thread that starts the
// copies calls it after wait(). Where the producer writes a tile by bulk copies, the thread that started them waits for
// them (cp.async.bulk.wait_group 0), calls fence_async_copies() and then post().
#pragma once

#include <type_traits>

#include "wic/site.h"
#include "wic/tile_policies.h"
#include "wic/tile_queue.h"

namespace wic {

/// A semaphore on a line of its own: waiters of one do not slow down the posts to another.
struct alignas(128) TileSemaphore {
  std::uint32_t done;  ///< tiles done, over all runs; wraps around
};
static_assert(sizeof(TileSemaphore) == 128);

/// The semaphores of a producer's tiles. Trivially copyable; kernels take it by value.
template <class Policy>
struct TileSync {
  Policy policy;
  TileSemaphore* semaphores = nullptr;  ///< policy.semaphores() of them, in device memory
  std::uint32_t* failed = nullptr;      ///< becomes 1 + the number of a semaphore for which a wait was too long
  Site site;

  /// The group waits until all tiles that belong to the semaphore are done in this run. All threads of the group call
  /// it; `group` as for wait_until(). False: the deadline has passed (the chain then computes no further tiles), or the
  /// producer is lost.
  WIC_DEVICE bool wait(const Thread& thread, const Group& group, std::uint32_t run, std::uint32_t semaphore) const {
    const WaitResult result =
        site.wait(thread, group, run, &semaphores[semaphore].done, AtLeast{run * policy.tiles(semaphore)});
    if (result) return true;
    if (group.is_leader(thread)) thread.store(failed, 1 + semaphore);
    return false;
  }
  /// The whole block waits.
  WIC_DEVICE bool wait(const Thread& thread, std::uint32_t run, std::uint32_t semaphore) const {
    return wait(thread, block_group(thread), run, semaphore);
  }
  /// Whether all tiles that belong to the semaphore are done in this run: a look without a wait and without a record.
  /// A thread that has seen it calls Thread::fence_acquire() before it, or others behind a barrier, use the tiles.
  WIC_DEVICE bool ready(const Thread& thread, std::uint32_t run, std::uint32_t semaphore) const {
    return AtLeast{run * policy.tiles(semaphore)}(thread.load(&semaphores[semaphore].done));
  }
  /// The tile is done. One thread calls it, after a barrier of the threads that wrote the tile. The last tile of a
  /// semaphore writes the signal that the trace shows.
  WIC_DEVICE void post(const Thread& thread, std::uint32_t run, TilePlace tile, const Payload& payload = {}) const {
    const std::uint32_t semaphore = policy.semaphore(tile);
    const std::uint32_t goal = run * policy.tiles(semaphore);
    std::uint32_t* const word = &semaphores[semaphore].done;
    const std::uint64_t at = signal_time(thread, site.view);
    if (thread.fetch_add_acq_rel(word, 1) + 1 != goal) return;
    write_record(thread, site.view, signal_record(site.id, run, at, goal, word_tag(word), payload));
  }
};
static_assert(std::is_trivially_copyable_v<TileSync<Row>>);

}  // namespace wic
