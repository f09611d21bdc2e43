// What the warps behind a wait do while it lasts: the trace has one row for a waiting group, of which one thread looks at
// the word, or one row a warp.
//
// * Where one thread waits for its group (a site whose `pollers` is the leader, whatever the strategy), the group's other
//   warps stand at its barrier. How many they are is not in the row. They are taken to be the warps of the block from the
//   leader's on, up to the next leader seen in that block; the block's warps come from the kernel that ran on the device
//   when the wait began. Where none is recorded, or several of different shapes could be meant: none are counted.
// * Where every thread waits for itself in the program's own way, there is a row a warp. Under a strategy with a leader
//   (leader_bar_sync, leader_mbarrier, shared_watch, naive) all but one of them never look at the word: no polls means at
//   the barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/colours.h"
#include "analyzer/trace_model.h"

namespace wicprof::analyzer {

using store::state_under;
/// Whether one thread of a group waits for all of it, even at sites where every thread polls in the program's own way.
bool has_leader(StrategyId strategy);

class WaitStates {
 public:
  /// Of a settled model, which must outlive it.
  explicit WaitStates(const TraceModel& model);

  /// What the row's own warp does: `first` until `change`, `last` from then on. Without a change of strategy: `last` all along.
  struct Own {
    State first, last;
    TimeNs change;
  };
  Own own(std::size_t wait) const;
  /// How many warps more stand at the barrier all along.
  std::uint32_t others(std::size_t wait) const { return others_.empty() ? 0 : others_[wait]; }

 private:
  const TraceModel& model_;
  std::vector<std::uint8_t> others_;  // empty: nobody, at any wait
};

}  // namespace wicprof::analyzer
