// The strategies that kernels know: one case per strategy, and one more per strategy that does not just poll.
#pragma once

#include <type_traits>

#include "wic/strategies/backoff.h"
#include "wic/strategies/leader_bar_sync.h"
#include "wic/strategies/leader_mbarrier.h"
#include "wic/strategies/naive.h"
#include "wic/strategies/poll.h"
#include "wic/strategies/predicted_sleep.h"
#include "wic/strategies/shared_watch.h"

namespace wic {

/// Calls visit(strategy) with a new object of the strategy of that number; Poll for an unknown number.
template <class Visitor>
WIC_DEVICE auto with_strategy(std::uint8_t id, Visitor&& visit) {
  switch (static_cast<StrategyId>(id)) {
    case Backoff::kId:
      return visit(Backoff{});
    case PredictedSleep::kId:
      return visit(PredictedSleep{});
    case LeaderBarSync::kId:
      return visit(LeaderBarSync{});
    case SharedWatch::kId:
      return visit(SharedWatch{});
    case LeaderMbarrier::kId:
      return visit(LeaderMbarrier{});
    case LeaderMbarrierHint::kId:
      return visit(LeaderMbarrierHint{});
    case Naive::kId:
      return visit(Naive{});
    default:
      return visit(Poll{});
  }
}

WIC_DEVICE inline Parking parking_of(std::uint8_t id) {
  return with_strategy(id, [](auto strategy) { return decltype(strategy)::kParking; });
}

/// Whether one thread waits for the whole group under that strategy, even where every thread polls in the program's own
/// way of waiting.
WIC_DEVICE inline bool leader_waits(std::uint8_t id) {
  return with_strategy(id, [](auto strategy) { return decltype(strategy)::kLeaderWaits; });
}

/// Whether a group of one warp polls with all its lanes at once in place of its leader: one load serves all of them, a
/// nap holds all of them, and nobody is left who could be parked, so that handing the result over would only take time.
WIC_DEVICE inline bool warp_polls(std::uint8_t id) {
  return with_strategy(id, [](auto strategy) { return std::is_base_of_v<PollingObservation, decltype(strategy)>; });
}

/// As with_strategy(), for the poll loop: all strategies that poll are one there, so that a kernel holds one loop.
template <class Visitor>
WIC_DEVICE auto with_observation(std::uint8_t id, Visitor&& visit) {
  switch (static_cast<StrategyId>(id)) {
    case Backoff::kId:
      return visit(Backoff{});
    case PredictedSleep::kId:
      return visit(PredictedSleep{});
    case SharedWatch::kId:
      return visit(SharedWatch{});
    case Naive::kId:
      return visit(Naive{});
    default:
      return visit(PollingObservation(leader_waits(id)));
  }
}

}  // namespace wic
