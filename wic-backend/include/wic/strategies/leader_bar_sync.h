// One thread of the group polls; the others wait at the group's barrier, where the hardware gives them no turns.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct LeaderBarSync : PollingObservation {
  static constexpr StrategyId kId = StrategyId::leader_bar_sync;
  static constexpr bool kLeaderWaits = true;

  WIC_DEVICE LeaderBarSync() : PollingObservation(true) {}
};

}  // namespace wic
