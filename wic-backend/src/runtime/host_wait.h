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

/// Under StrategyId::poll it spins. Under any other it goes by `predicted`, the length that earlier waits at the site
/// suggest (0 = nothing known): it spins through twice that, 200 us at least, where it is 500 us or less, because
/// falling asleep and waking up takes too large a part of such a wait; otherwise it sleeps through four fifths of it.
/// Then it looks with naps of a 128th of the wait so far between, at most 50 us, with the thread's timer slack lowered
/// for as long. `strategy_now` is asked again and again, so that a toggle reaches a wait in progress; where it says
/// kProducerLost, the wait ends.
HostWaitResult host_wait(const std::uint32_t* word, AtLeast condition, wicprof::TimeNs timeout,
                         wicprof::TimeNs predicted, const std::function<wicprof::StrategyId()>& strategy_now);

}  // namespace wic
