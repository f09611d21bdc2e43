// One time step of a device's slab of planes.
#pragma once

#include "common/slabs.h"
#include "g_stn/stencil.h"

namespace sample::stn {

/// A task is a tile (some rows) of one field's outermost plane at one side. Its block sends the tile, steps a piece of
/// the planes that need no other slab (C1), waits for the tile beyond the border, and steps the cells that need it
/// (C2). Because a cell has six neighbours, these are the cells of the tile itself. The other blocks step the rest of
/// C1.
struct Step : SlabKernel {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 3;
  static constexpr std::uint32_t kColumn = 8;  ///< heights that a thread steps in one call

  std::uint32_t n = 0;
  std::uint32_t tiles = 0;  ///< of a plane

  WIC_DEVICE std::uint32_t tasks() const { return side_count() * tags(); }
  /// The heights that need no other slab.
  WIC_DEVICE std::uint32_t free_begin() const { return sides[0].exists ? 1 : 0; }
  WIC_DEVICE std::uint32_t free_heights() const { return units - side_count(); }
  /// Pieces of C1, each one block wide.
  WIC_DEVICE std::uint32_t chunks(std::uint32_t threads) const {
    const std::uint32_t items = (free_heights() + kColumn - 1) / kColumn * n * n;
    return (items + threads - 1) / threads;
  }

  struct Tile {
    std::uint32_t side, tag, field;
    std::uint32_t first_row, rows;
    std::uint32_t z;  ///< its height in the slab
  };

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [](const Tile&) { return true; });
  }

  /// `computed`: see EarlyPublish. False: a deadline passed.
  template <class Computed>
  WIC_DEVICE void run(const wic::Thread& thread, const Computed& computed) const {
    if (failure->stops(thread, iteration)) return;
    const std::uint32_t all = tasks();
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      const Tile tile = tile_of(task);
      if (!send(thread, tile, sides[tile.side].out_cycle, from)) return;
    }
    const std::uint32_t waiting = all < thread.block_count() ? all : thread.block_count();
    deal_chunks(thread, waiting, chunks(thread.block_size()), [&](std::uint32_t chunk) { step_chunk(thread, chunk); });
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      const Tile tile = tile_of(task);
      if (!receive(thread, tile) || !computed(tile)) return;
    }
  }

  WIC_DEVICE static std::uint32_t side_of(const Tile& tile) { return tile.side; }

  /// Sends a tile of `slab`.
  WIC_DEVICE bool send(const wic::Thread& thread, const Tile& tile, const wic::Cycle& cycle, const Cell* slab) const {
    const std::size_t row = std::size_t{tile.first_row} * n;
    const std::uint32_t bytes = tile.rows * n * static_cast<std::uint32_t>(sizeof(Cell));
    const std::uint64_t offset = (plane_at(n, first_unit + tile.z, tile.field) + row) * sizeof(Cell);
    const wic::WaitResult wait = sides[tile.side].out.send(thread, wic::block_group(thread), tile.tag, cycle,
                                                           slab + plane_at(n, tile.z, tile.field) + row, bytes,
                                                           timeout_ns, wic::Payload::contiguous(offset, bytes));
    if (wait) return true;
    if (thread.index() == 0) failure->report(thread, iteration, sides[tile.side].peer, tile.tag, true);
    return false;
  }

 private:
  /// Messages in each direction between two slabs.
  WIC_DEVICE std::uint32_t tags() const { return kFields * tiles; }

  WIC_DEVICE Tile tile_of(std::uint32_t task) const {
    Tile tile;
    tile.side = side(task / tags());
    tile.tag = task % tags();
    tile.field = tile.tag / tiles;
    const std::uint32_t k = tile.tag % tiles;
    tile.first_row = part_begin(n, tiles, k);
    tile.rows = part_begin(n, tiles, k + 1) - tile.first_row;
    tile.z = tile.side == 0 ? 0 : units - 1;
    return tile;
  }

  WIC_DEVICE void step_chunk(const wic::Thread& thread, std::uint32_t chunk) const {
    const std::uint32_t item = chunk * thread.block_size() + thread.index();
    const std::uint32_t done = item / (n * n) * kColumn;
    if (done >= free_heights()) return;
    const std::uint32_t left = free_heights() - done;
    const std::uint32_t column = item % (n * n);
    step_column(from, to, n, units, column % n, column / n, free_begin() + done, left < kColumn ? left : kColumn);
    thread.step();
  }

  WIC_DEVICE bool receive(const wic::Thread& thread, const Tile& tile) const {
    const SlabSide& link = sides[tile.side];
    const wic::Group group = wic::block_group(thread);
    const wic::Message message = link.in.receive(thread, group, tile.tag, link.in_cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, iteration, link.peer, tile.tag, false);
      return false;
    }
    const auto* const beyond = reinterpret_cast<const Cell*>(message.data);
    const std::uint32_t inner = tile.side == 0 ? tile.z + 1 : tile.z - 1;
    for (std::uint32_t i = thread.index(); i < tile.rows * n; i += thread.block_size()) {
      step_border_cell(from, to, n, tile.field, i % n, tile.first_row + i / n, tile.z, inner, beyond, tile.first_row);
      thread.step();
    }
    link.in.release(thread, group, tile.tag, link.in_cycle);
    return true;
  }
};

}  // namespace sample::stn
