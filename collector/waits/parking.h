// Waits in the place of a call of the driver: asks whether the work is done, and sleeps in between.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>

#include "collector/waits/snapshot.h"
#include "collector/waits/wait_plan.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// What the thread does until its call goes on.
struct Parked {
  bool done = false;        ///< the work is finished; else the call waits for the rest, or reports an error
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
  /// Between questions without a sleep.
  virtual void pause() = 0;
  /// The rest of the wait is the driver's.
  virtual void leaves() = 0;
  virtual TimeNs now() = 0;
};

/// Whether wic-prof may wait in the call's place. False where the program has asked for something else: the context or
/// the stream blocks already, or the stream is part of a capture; and where the driver cannot be asked: while a capture
/// is open, in a function that a stream calls on the host, or after an error.
bool may_park(ParkTools& tools, const Awaitable& what);

/// Waits as `plan` says. `plan_for`: the plan of another strategy that comes into force meanwhile. In the thread's
/// relaxed capture mode.
Parked park(Snapshot& snapshot, StrategyId strategy, const std::function<WaitPlan(StrategyId)>& plan_for,
            Waiting& waiting, TimeNs begin);

}  // namespace wicprof::collector
