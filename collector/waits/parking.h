// Waits in the place of a call of the driver: asks whether the work is done, and sleeps in between. The call itself
// then finds its work done and returns at once.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "collector/waits/driver_api.h"
#include "collector/waits/wait_plan.h"
#include "protocol/events/host_wait.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// What a call of the driver is about to wait for.
struct Awaitable {
  Awaited kind = Awaited::unknown;
  CUstream stream = nullptr;  ///< explicit: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD in place of the default stream
  CUevent event = nullptr;
  CUcontext context = nullptr;  ///< of a device; nullptr: the current one
};

/// What the thread does until its call goes on.
struct Parked {
  bool done = false;        ///< the work is finished; else the call waits for the rest
  std::uint32_t polls = 0;  ///< times that the driver was asked
  std::uint32_t naps = 0;
};

/// How a thread sleeps, and what ends its waiting early.
class Waiting {
 public:
  virtual ~Waiting() = default;
  /// The strategy in force for this wait now: `poll` leaves the wait to the call.
  virtual StrategyId wanted() = 0;
  /// Sleeps for at most `time`, or until wanted() may have changed.
  virtual void sleep(TimeNs time) = 0;
  virtual TimeNs now() = 0;
};

/// Whether wic-prof may wait in the call's place. False where the program has asked for something else: the context or
/// the stream blocks already, or the stream is part of a capture; and where the driver cannot be asked: in a function
/// that a stream calls on the host, or after an error.
bool may_park(const DriverApi& api, const Awaitable& what);

/// Waits as `plan` says. `plan_for`: the plan of another strategy that comes into force meanwhile. Asks in the thread's
/// relaxed capture mode, so that a capture on another thread goes on.
Parked park(const DriverApi& api, const Awaitable& what, StrategyId strategy,
            const std::function<WaitPlan(StrategyId)>& plan_for, Waiting& waiting, TimeNs begin);

}  // namespace wicprof::collector
