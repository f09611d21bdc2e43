// One thread of the group polls; the others stand at an mbarrier in shared memory (Hopper's try_wait), which that
// thread completes. Groups whose program has one poller anyway stand at the program's own barrier, as ever.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct LeaderMbarrier : PatientObservation {
  static constexpr StrategyId kId = StrategyId::leader_mbarrier;
  static constexpr Parking kParking = Parking::mbarrier;
};

/// With a time hint: a try_wait that fails sleeps for that long at most before it looks again.
struct LeaderMbarrierHint : LeaderMbarrier {
  static constexpr StrategyId kId = StrategyId::leader_mbarrier_hint;
  static constexpr Parking kParking = Parking::mbarrier_hint;
};

}  // namespace wic
