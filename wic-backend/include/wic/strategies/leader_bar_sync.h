// One thread of the group polls; the others stand at the group's barrier, where the hardware gives them no turns.
#pragma once

#include "protocol/strategy.h"
#include "wic/strategies/strategy.h"

namespace wic {

struct LeaderBarSync : PatientObservation {
  static constexpr wicprof::StrategyId kId = wicprof::StrategyId::leader_bar_sync;
};

}  // namespace wic
