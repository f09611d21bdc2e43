// Algorithm 1 of the WIC paper: one thread of the group polls by atomicAdd(flag, 0), the others wait at the barrier. A
// baseline for measurements, for words in managed or device memory. In host memory such a poll can overwrite the
// producer's store with the value that it read before, and lose the flag (StrategyBoard refuses that).
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct Naive : DirectObservation {
  static constexpr StrategyId kId = StrategyId::naive;
  static constexpr bool kLeaderWaits = true;

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    return {true, 1, thread.fetch_add_system(const_cast<std::uint32_t*>(wait.word), 0)};
  }
  template <class Condition>
  WIC_DEVICE void pass(const Thread&, const WaitContext&, std::uint64_t, const Condition&) {}
};

}  // namespace wic
