// After GPS (MICRO 2021), at application level: a block that has computed what another device needs in the next
// iteration stores it into that device's memory at once, instead of at the begin of the next iteration's kernel. That
// kernel sends it again, which does nothing: a cycle is announced once.
#pragma once

#include "common/lane.h"

namespace sample {

/// The cycle after this one, if the next iteration uses the same channel: see keeps_way().
WIC_DEVICE constexpr wic::Cycle next_cycle_of(const wic::Cycle& cycle) {
  return {cycle.number + 1, cycle.iteration + 1};
}

/// Whether the iteration after `turn` waits in the same way. Fixes that way: a toggle takes effect one iteration later.
inline bool keeps_way(Lane& lane, const Lane::Turn& turn) {
  return lane.turn(turn.cycle.iteration + 1).way_index == turn.way_index;
}

/// A kernel over slabs (common/slabs.h) that also sends the next iteration's messages. Kernel must have run(thread,
/// computed), which calls computed(task) once the block has computed what `task` sends next, side_of(task), and
/// send(thread, task, cycle, field).
template <class Kernel>
struct EarlyPublish : Kernel {
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    Kernel::run(thread, [&](const auto& task) {
      return Kernel::send(thread, task, next_cycle_of(Kernel::sides[Kernel::side_of(task)].out_cycle), Kernel::to);
    });
  }
};

}  // namespace sample
