// Polls without pause, as programs do without wic.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct Poll : PollingObservation {
  static constexpr StrategyId kId = StrategyId::poll;
  static constexpr bool kLeaderWaits = false;

  WIC_DEVICE Poll() : PollingObservation(false) {}
};

}  // namespace wic
