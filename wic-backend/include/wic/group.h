// The threads of a block that wait together: they enter a wait together and leave it together.
#pragma once

#include <cstdint>

#include "wic/thread.h"
#include "wic/types.h"

namespace wic {

struct Group {
  std::uint32_t first = 0;            ///< linear index of the first thread; a multiple of 32
  std::uint32_t threads = 0;          ///< a multiple of 32, or Thread::barrier_size()
  std::uint32_t barrier = 0;          ///< used only by this group; 0..kGroupBarriers-1
  Pollers pollers = Pollers::leader;  ///< who polls when the program waits in its own way

  WIC_DEVICE bool is_leader(const Thread& thread) const { return thread.index() == first; }
};

/// The whole block; one thread polls and the rest stand at the block's barrier (Algorithm
/// 1 of the WIC paper).
WIC_DEVICE inline Group block_group(const Thread& thread) { return {0, thread.barrier_size(), 0, Pollers::leader}; }

/// `warps` warps from `first_warp` on; every thread polls for itself. `barrier`: 1..kGroupBarriers-1, used by no other
/// group of the block.
WIC_DEVICE inline Group warps_group(std::uint32_t first_warp, std::uint32_t warps, std::uint32_t barrier) {
  return {first_warp * kWarpSize, warps * kWarpSize, barrier, Pollers::each_thread};
}

}  // namespace wic
