// What the warps behind a wait do while it lasts: the trace has one row for a waiting group, of which one thread looks
// at the word, or one row a warp.
//
// * Where one thread waits for its group (a site whose `pollers` is the leader, whatever the strategy), the group's
// other
//   warps stand at its barrier. How many they are is not in the row. They are taken to be the warps of the block from
//   the leader's on, up to the next leader seen in that block; the block's warps come from the kernel that ran on the
//   device when the wait began. Where none is recorded, or several of different shapes could be meant: none are
//   counted.
// * Where every thread waits for itself in the program's own way, there is a row a warp. Under a strategy with a leader
//   (leader_bar_sync, leader_mbarrier, shared_watch, naive) all but one of them never look at the word: no polls means
//   at the barrier.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "store/format/rows.h"
#include "store/summaries/lanes.h"

namespace wicprof::store {

/// Whether one thread of a group waits for all of it, even at sites where every thread polls in the program's own way.
bool has_leader(StrategyId strategy);

/// As much of a kernel as tells how many warps its blocks have.
struct KernelShape {
  DeviceId device = 0;
  TimeNs start = 0, end = 0;
  std::uint64_t blocks = 0;
  std::uint32_t warps = 0;  ///< of a block
};
KernelShape shape_of(const KernelRow& kernel);

/// Told of every site and, in any order, of every wait; then of kernels and asked about waits, both in order of time.
/// One thread.
class WaitStates {
 public:
  void add_site(SiteId site, Pollers pollers) { pollers_[site] = pollers; }
  void add_wait(const WaitRow& wait);

  /// Kernels that began up to the next wait's arrival.
  void begin_kernel(const KernelShape& kernel) { running_[kernel.device].push_back(kernel); }
  /// How many warps beside the row's own stand at the barrier all along.
  std::uint32_t others(const WaitRow& wait);

  /// What the row's own warp does: `first` until `change`, `last` from then on. Without a change of strategy: `last`
  /// all along.
  struct Own {
    State first, last;
    TimeNs change;
  };
  Own own(const WaitRow& wait) const;

 private:
  bool polls_as(const WaitRow& wait, Pollers pollers) const;
  std::uint32_t next_leader(const WaitRow& wait, std::uint32_t upto) const;

  std::unordered_map<SiteId, Pollers> pollers_;
  std::unordered_map<std::uint64_t, std::uint32_t> leaders_;  // by device and block: their warps, one bit each
  std::map<DeviceId, std::vector<KernelShape>> running_;
};

}  // namespace wicprof::store
