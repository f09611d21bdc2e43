// How a host thread waits under each strategy: when it sleeps, when it polls, when it leaves the wait to the driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/waits/predictor.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// What sleeping costs on this machine, as measured there. In ns.
struct SleepCosts {
  // The defaults hold until they have been measured.
  TimeNs wake = 50'000;  ///< from the end of a sleep until the thread runs, typically
  TimeNs late =
      100'000;  ///< the same in a rare case: one of twenty as measured at start, one of a hundred by sleep_ended()
  TimeNs calm = late;      ///< `late` as measured at start, when the thread did not wait for a CPU
  bool contended = false;  ///< others use the thread's CPUs, too: who polls uses up a share and then waits for a CPU
};

/// How late a thread's sleeps end: follows the 99th percentile, since a program whose threads meet waits for the
/// latest of them. Used by one thread.
class SleepLateness {
 public:
  /// As measured at the session's start, until the thread has slept itself.
  TimeNs late(TimeNs measured) const { return late_ == 0 ? measured : late_; }
  /// A sleep that nobody cut short ended so late. `measured`: as for late().
  void sleep_ended(TimeNs late, TimeNs measured);

 private:
  TimeNs late_ = 0;
};

/// Whether others use a thread's CPUs, by how long the scheduler kept the thread from a CPU in its waits. Used by one
/// thread.
class Contention {
 public:
  /// A wait in which the thread was ready to run without a CPU for so long.
  void wait_ended(TimeNs run_delay);
  bool contended() const { return contended_; }

 private:
  double share_ = 0;  // of recent waits with such a delay
  bool contended_ = false;
};

/// A nap is at most this long, so that a toggle takes effect within a millisecond also if its wake-up is missed.
inline constexpr TimeNs kLongestNap = 500'000;

/// The steps of one wait. Times in ns from the wait's begin.
struct WaitPlan {
  TimeNs sleep = 0;         ///< first sleep until then; 0: do not
  bool contended = false;   ///< planned for CPUs that others use, too
  bool to_driver = false;   ///< then leave the wait to the program's own call
  TimeNs poll_until = 0;    ///< else ask without a pause until then, and nap between questions afterwards
  TimeNs shortest_nap = 0;  ///< 0: never nap
  TimeNs nap_share = 100;   ///< a nap is at most one in so many parts of what has passed, or the shortest nap
  bool in_pieces = false;   ///< towards its end, the first sleep consists of short ones

  /// How long to sleep at first, `passed` after the wait's begin; perhaps a piece.
  TimeNs first_sleep(TimeNs passed) const;

  /// The length of the next nap, which grows with the wait: a wait then ends late by a bounded share of its length, and
  /// a long wait costs few questions.
  TimeNs nap(TimeNs passed) const;
};

/// The plan of `spin`, `block` or, for any other strategy, `hybrid`. `forecast`: nothing where the place is not known
/// well enough.
WaitPlan plan_of(StrategyId strategy, const std::optional<Forecast>& forecast, const SleepCosts& costs);

/// What `hybrid` does at a place.
enum class HybridWay : std::uint8_t { learning, polls, sleeps_then_polls, naps, shares_cpu };
HybridWay way_of(const std::optional<Forecast>& forecast, const WaitPlan& plan);
/// The reason, in words for people.
std::string reason_of(HybridWay way, const Forecast& forecast, const SleepCosts& costs);

}  // namespace wicprof::collector
