// Look again at once: what programs do on their own.
#pragma once

#include "protocol/strategy.h"
#include "wic/strategies/strategy.h"

namespace wic {

struct Poll : DirectObservation {
  static constexpr wicprof::StrategyId kId = wicprof::StrategyId::poll;
  static constexpr bool kLeaderWaits = false;

  WIC_DEVICE void pass(const Thread&, const WaitContext&, std::uint64_t) {}
};

}  // namespace wic
