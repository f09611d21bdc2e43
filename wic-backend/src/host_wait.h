// How a host thread waits for a word that a device writes.
#pragma once

#include <cstdint>
#include <functional>

#include "protocol/strategy.h"
#include "protocol/time.h"
#include "wic/wait.h"

namespace wic {

struct HostWaitResult {
  WaitResult result;
  std::uint32_t polls;
};

/// Under StrategyId::poll it spins. Under any other it sleeps through four fifths of `predicted` (the length that earlier
/// waits at the site suggest; 0 = nothing known), then looks with naps of a thirty-second of the wait so far between, at
/// most 50 us; but it spins through the first 200 us of a wait that is not known to be longer, because a nap costs the 50 us
/// by which the kernel's timers are late. `strategy_now` is asked again and again, so that a toggle reaches a wait in
/// progress; where it says kProducerLost, the wait ends.
HostWaitResult host_wait(const std::uint32_t* word, AtLeast condition, wicprof::TimeNs timeout,
                         wicprof::TimeNs predicted, const std::function<wicprof::StrategyId()>& strategy_now);

}  // namespace wic
