// One thread of the group polls; the others stand at the group's barrier, where the hardware gives them no turns.
#pragma once

#include "protocol/strategy.h"
#include "wic/strategies/strategy.h"

namespace wic {

struct LeaderBarSync : DirectObservation {
  static constexpr wicprof::StrategyId kId = wicprof::StrategyId::leader_bar_sync;
  static constexpr bool kLeaderWaits = true;

  WIC_DEVICE void pass(const Thread&, const WaitContext&, std::uint64_t) {}
};

}  // namespace wic
