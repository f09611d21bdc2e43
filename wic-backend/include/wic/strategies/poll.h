// Polls without pause, as programs do without wic.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct Poll : DirectObservation {
  static constexpr StrategyId kId = StrategyId::poll;
  static constexpr bool kLeaderWaits = false;

  template <class Condition>
  WIC_DEVICE void pass(const Thread&, const WaitContext&, std::uint64_t, const Condition&) {}
};

}  // namespace wic
