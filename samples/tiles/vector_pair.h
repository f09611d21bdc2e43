// Two dependent kernels on vectors: x -> y = factor * x + run -> z = y + the mirrored y, tile by tile. Each tile of the
// second one needs two tiles of the first: at its own place and at the mirrored column of its row. For any policy of
// wic/tile_policies.h; the second kernel checks what it reads.
#pragma once

#include <cstdint>

#include "wic/launch.h"
#include "wic/tiles.h"

namespace sample::tiles {

/// The vectors of a pair: grid.count() * elements numbers each.
struct VectorPair {
  wic::TileGrid grid;
  std::uint32_t elements;  ///< of a tile
  const float* x;
  float* y;
  float* z;
  float factor;

  /// All of it is exact in floats: x is a small integer, runs count modulo 1,024.
  WIC_DEVICE float y_of(std::uint64_t at, std::uint32_t run) const {
    return factor * x[at] + static_cast<float>(run & 1023u);
  }
  WIC_DEVICE std::uint64_t begin(wic::TilePlace place) const {
    return (std::uint64_t{place.row} * grid.columns + place.column) * elements;
  }
};

WIC_DEVICE inline wic::TileTicket take_for_block(const wic::Thread& thread, const wic::TileQueue& queue) {
  auto* const shared = static_cast<wic::TileTicket*>(thread.shared());
  if (thread.index() == 0) *shared = queue.take(thread);
  thread.sync_block();
  const wic::TileTicket tile = *shared;
  thread.sync_block();
  return tile;
}

template <class Policy>
struct ScaleTiles {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  wic::TileQueue queue;
  wic::TileOrder order;
  wic::TileSync<Policy> done;
  VectorPair data;
  std::uint32_t longer_ns;  ///< each tile takes about that much longer

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    thread.release_dependents();
    while (const wic::TileTicket tile = take_for_block(thread, queue)) {
      const wic::TilePlace place = order.place(tile.index);
      const std::uint64_t end = thread.clock_ns() + longer_ns;
      while (longer_ns != 0 && thread.clock_ns() < end) thread.sleep_ns(2'000);
      for (std::uint32_t i = thread.index(); i < data.elements; i += thread.block_size()) {
        data.y[data.begin(place) + i] = data.y_of(data.begin(place) + i, tile.run);
      }
      thread.sync_block();
      if (thread.index() == 0) done.post(thread, tile.run, place);
    }
  }
};

template <class Policy>
struct AddMirrored {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  wic::TileQueue queue;
  wic::TileOrder order;
  wic::TileSync<Policy> needed;  ///< without semaphores: no waits
  VectorPair data;
  std::uint32_t* wrong;  ///< numbers of y that were not this run's
  std::uint32_t* done;   ///< tiles

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    while (const wic::TileTicket tile = take_for_block(thread, queue)) {
      const wic::TilePlace place = order.place(tile.index);
      const wic::TilePlace mirrored{data.grid.columns - 1 - place.column, place.row};
      if (needed.semaphores != nullptr) {
        const std::uint32_t own = needed.policy.semaphore(place), other = needed.policy.semaphore(mirrored);
        if (!needed.wait(thread, tile.run, own)) continue;
        if (other != own && !needed.wait(thread, tile.run, other)) continue;
      }
      std::uint32_t mine = 0;
      for (std::uint32_t i = thread.index(); i < data.elements; i += thread.block_size()) {
        const std::uint64_t here = data.begin(place) + i, there = data.begin(mirrored) + i;
        const float a = data.y[here], b = data.y[there];
        mine += a != data.y_of(here, tile.run) || b != data.y_of(there, tile.run) ? 1 : 0;
        data.z[here] = a + b;
      }
      if (mine != 0) thread.fetch_add(wrong, mine);
      thread.sync_block();
      if (thread.index() == 0) thread.fetch_add(done, 1);
    }
  }
};

}  // namespace sample::tiles
