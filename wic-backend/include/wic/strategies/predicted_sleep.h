// Sleeps through most of the time that earlier waits at the site predict, then polls.
//
// The sleep consists of several short ones with a clock reading after each, because one nanosleep lasts between nothing
// and twice its argument.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct PredictedSleep : DirectObservation {
  static constexpr StrategyId kId = StrategyId::predicted_sleep;
  static constexpr bool kLeaderWaits = false;
  static constexpr std::uint32_t kShortestNs = 500;  ///< a sleep for less could overshoot by more than it saves

  template <class Condition>
  WIC_DEVICE void pass(const Thread& thread, const WaitContext& wait, std::uint64_t now, const Condition&) {
    if (slept_) return;
    slept_ = true;
    const std::uint64_t predicted = wait.usual(thread).mean_ns;
    const std::uint64_t until = wait.arrived_ns + predicted - predicted / 5;  // four fifths
    while (now + kShortestNs < until && now < wait.deadline_ns && !wait.strategy_changed(thread)) {
      const std::uint64_t half = (until - now) / 2;  // a sleep lasts up to twice as long
      thread.sleep_ns(half < kLongestSleepNs ? static_cast<std::uint32_t>(half) : kLongestSleepNs);
      now = thread.clock_ns();
    }
  }

 private:
  bool slept_ = false;
};

}  // namespace wic
