// What the warps of a wait do during the wait: the trace has one row per waiting group, of which one thread polls, or
// one row per warp.
//
// * Where one thread waits for its group (a site whose `pollers` is the leader, whatever the strategy), the group's
//   other warps wait at its barrier. The row does not have their number. They are assumed to be the block's warps from
//   the leader's to the next leader seen in that block; the block's size comes from the kernel that ran on the device
//   when the wait began. Without a recorded kernel, or with several of different shapes, no warps are counted.
// * Where every thread waits for itself in the program's own code, each warp has a row. Under a strategy with a leader
//   (leader_bar_sync, leader_mbarrier, shared_watch, naive) only one of these warps polls: no polls means at the
//   barrier.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "store/format/rows.h"
#include "store/summaries/lanes.h"

namespace wicprof::store {

/// Whether one thread waits for its whole group, even at sites where every thread polls in the program's own code.
bool has_leader(StrategyId strategy);

/// The part of a kernel that determines how many warps its blocks have.
struct KernelShape {
  DeviceId device = 0;
  TimeNs start = 0, end = 0;
  std::uint64_t blocks = 0;
  std::uint32_t warps = 0;  ///< of a block
};
KernelShape shape_of(const KernelRow& kernel);

/// What the states of the warps beside a wait follow from: of a row of a RowList, no more is made than that.
struct WaitPlace {
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp;
  TimeNs arrived;

  WaitPlace(const WaitRow& wait)
      : site(wait.site), device(wait.device), block(wait.block), warp(wait.warp), arrived(wait.arrived) {}
};

/// Add every site and every wait first, in any order; then add kernels and query waits, both in order of time. One
/// thread.
class WaitStates {
 public:
  void add_site(SiteId site, Pollers pollers) { pollers_[site] = pollers; }
  void add_wait(const WaitPlace& wait);

  /// Kernels that began up to the next wait's arrival.
  void begin_kernel(const KernelShape& kernel) { running_[kernel.device].push_back(kernel); }
  /// How many warps besides the row's own wait at the barrier for the whole wait.
  std::uint32_t others(const WaitPlace& wait);

  /// What the row's own warp does: `first` until `change`, `last` from then on; only `last` without a change of
  /// strategy.
  struct Own {
    State first, last;
    TimeNs change;
  };
  Own own(const WaitRow& wait) const;

 private:
  bool polls_as(SiteId site, Pollers pollers) const;
  std::uint32_t next_leader(const WaitPlace& wait, std::uint32_t limit) const;

  std::unordered_map<SiteId, Pollers> pollers_;
  std::unordered_map<std::uint64_t, std::uint32_t> leaders_;  // by device and block: their warps, one bit each
  std::map<DeviceId, std::vector<KernelShape>> running_;
};

/// Calls `take(state, begin, end, warps)` for each stretch of a wait: of the row's own warp, and of the `others`.
template <class Take>
void each_stretch(const WaitRow& wait, const WaitStates::Own& own, std::uint32_t others, Take take) {
  if (own.change > wait.arrived) take(own.first, wait.arrived, own.change, 1u);
  take(own.last, own.change, wait.resumed, 1u);
  if (others > 0) take(State::at_barrier, wait.arrived, wait.resumed, others);
}
/// The same, and the time that the warps computed since their last wait. `stay`: of the row's own warp.
template <class Take>
void each_stretch(const WaitRow& wait, const WaitStates::Own& own, std::uint32_t others, Stay& stay, Take take) {
  each_stretch(wait, own, others, take);
  if (const auto since = stay.computed_since(wait.sm, wait.iteration))
    take(State::computing, *since, wait.arrived, 1 + others);
  stay.add(wait.sm, wait.iteration, wait.resumed);
}

}  // namespace wicprof::store
