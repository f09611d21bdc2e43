// Hands out a kernel's tiles in order, whatever the order of its blocks: a block takes the next tile when it is ready
// for it. So the tiles that have been taken are always the first ones of the order, and a tile that waits for tiles
// before it waits for blocks that already run.
#pragma once

#include <cstdint>

#include "wic/thread.h"

namespace wic {

struct TileTicket {
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::uint32_t index = kNone;  ///< in the order of computation; kNone: no tile is left for this block, which ends
  std::uint32_t run = 0;        ///< of the kernel, from 1 on; wraps around

  WIC_DEVICE explicit operator bool() const { return index != kNone; }
};

/// Trivially copyable; kernels take it by value. Nothing is reset between runs: `next` counts on, so that a launch can
/// be repeated as it is.
struct TileQueue {
  std::uint64_t* next = nullptr;          ///< in device memory, on a line of its own
  const std::uint32_t* failed = nullptr;  ///< not 0 once a wait of the chain has passed its deadline
  std::uint32_t tiles = 0;
  std::uint32_t blocks = 0;  ///< of every launch of the kernel

  /// One thread of the block calls it until it returns no tile, and then no more: each run takes tiles + blocks
  /// tickets.
  WIC_DEVICE TileTicket take(const Thread& thread) const {
    const std::uint64_t per_run = std::uint64_t{tiles} + blocks;
    for (;;) {
      const bool fine = thread.load(failed) == 0;  // not later: the two accesses overlap
      const std::uint64_t number = thread.fetch_add(next, std::uint64_t{1});
      const std::uint64_t runs = number / per_run;
      const auto index = static_cast<std::uint32_t>(number - runs * per_run);
      const auto run = static_cast<std::uint32_t>(runs + 1);
      if (index >= tiles) {
        // So that a kernel never ends before the kernels before it, and the next one in the stream is after them all.
        thread.wait_for_earlier_kernels();
        return {TileTicket::kNone, run};
      }
      if (fine) return {index, run};
      // After a passed deadline: takes what is left and computes nothing, so that the count stays right.
    }
  }
};

}  // namespace wic
