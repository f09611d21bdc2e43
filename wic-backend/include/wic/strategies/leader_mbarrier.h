// One thread of the group polls; the others wait at an mbarrier in shared memory (Hopper's try_wait), which that thread
// completes. Groups that declare one poller wait at their own barrier, as under any strategy.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct LeaderMbarrier : LeaderBarSync {
  static constexpr StrategyId kId = StrategyId::leader_mbarrier;
  static constexpr Parking kParking = Parking::mbarrier;
};

/// With a time hint: a try_wait that fails sleeps for at most that long before the next try.
struct LeaderMbarrierHint : LeaderMbarrier {
  static constexpr StrategyId kId = StrategyId::leader_mbarrier_hint;
  static constexpr Parking kParking = Parking::mbarrier_hint;
};

}  // namespace wic
