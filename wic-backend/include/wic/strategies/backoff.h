// Sleeps between looks, twice as long each time, up to 8 us.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

struct Backoff : DirectObservation {
  static constexpr StrategyId kId = StrategyId::backoff;
  static constexpr bool kLeaderWaits = false;
  static constexpr std::uint32_t kFirstNs = 64;
  static constexpr std::uint32_t kLongestNs = 8'192;

  template <class Condition>
  WIC_DEVICE void pass(const Thread& thread, const WaitContext&, std::uint64_t, const Condition&) {
    thread.sleep_ns(next_ns_);
    next_ns_ = next_ns_ < kLongestNs ? next_ns_ * 2 : kLongestNs;
  }

 private:
  std::uint32_t next_ns_ = kFirstNs;
};

}  // namespace wic
