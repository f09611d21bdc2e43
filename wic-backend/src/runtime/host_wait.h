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

/// Under StrategyId::poll it spins. Under any other strategy it uses `predicted`, the length that earlier waits at the
/// site suggest (0 = nothing known). Up to 500 us it spins for twice that length, at least for 200 us, because falling
/// asleep and waking up would take too large a part of such a wait. Beyond 500 us it sleeps through four fifths of it.
/// Then it looks repeatedly, with naps of a 128th of the wait so far, at most 50 us, and lowers the thread's timer
/// slack meanwhile. Calls `strategy_now` at every look, so that a toggle reaches a wait in progress; kProducerLost ends
/// the wait.
HostWaitResult host_wait(const std::uint32_t* word, AtLeast condition, wicprof::TimeNs timeout,
                         wicprof::TimeNs predicted, const std::function<wicprof::StrategyId()>& strategy_now);

}  // namespace wic
