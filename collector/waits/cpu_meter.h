// What a wait takes of the waiting thread's CPU time, and what the scheduler does with the thread meanwhile.
#pragma once

#include <array>
#include <cstdint>

#include "collector/program/run_delay.h"
#include "protocol/events/host_wait.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// The values as in HostWaitEvent: -1 or kUnknownSwitches = not known.
struct CpuUse {
  TimeNs cpu = -1;
  std::uint32_t involuntary_switches = HostWaitEvent::kUnknownSwitches;
  TimeNs run_delay = -1;
  TimeNs computed = -1;  ///< where the thread slept in the wait: since the last one in which it did; -1: not known
};

/// One per thread, used by that thread alone. Each clock of a thread costs a system call of 0.3 to 0.6 us, which is
/// most of what a call that finds its work done would cost. So the meter reads them only at places where waits are
/// long, and reads at a wait's end only those that can have changed.
class CpuMeter {
 public:
  /// Places are told apart by their numbers below this one.
  static constexpr std::size_t kPlaces = 256;
  /// A wait in which a thread sleeps takes longer: waits for 20 us of work took 58 us so on an H200, and 28 us without.
  /// A call that finds its work done takes up to 2 us by itself on some machines, and must not be taken for a long
  /// wait.
  static constexpr TimeNs kTooShortToSleep = 10 * kMicrosecond;
  /// A thread that gives up its CPU is away for longer.
  static constexpr TimeNs kAway = 3 * kMicrosecond;
  /// After so many waits in a row that were too short to sleep, the meter takes the next one at that place for a short
  /// one, too. If it is not, its CPU time is not known. Not calibrated.
  static constexpr std::uint8_t kShortInARow = 8;
  /// Up to here, a wait may be a short one that was delayed, and has one further wait measured rather than
  /// kShortInARow: of copies of 7 us one in 100 took over 14 us, one in 1,000 over 23 us in the best of 19 processes
  /// (docs/results/call_cost_copies.h100.json). Not calibrated.
  static constexpr TimeNs kDelayed = 50 * kMicrosecond;

  /// Before a wait at the place.
  void begin(std::uint32_t place) {
    place_ = place < kPlaces ? place : 0;
    measures_ = short_waits_[place_] < kShortInARow;
    if (measures_) first_ = last_ = read();
  }

  /// The thread has slept, and the wait goes on: reads now what end() need not read then, when the program waits for
  /// it.
  void woke() {
    if (measures_) last_ = read();
  }

  /// After the wait from `begin` to `end`.
  CpuUse end(TimeNs begin, TimeNs end) {
    if (end - begin >= kTooShortToSleep) return end_long(begin, end);
    if (short_waits_[place_] < kShortInARow) ++short_waits_[place_];
    return {end > begin ? end - begin : 0, 0, reports_run_delay_ ? 0 : -1};
  }

 private:
  CpuUse end_long(TimeNs begin, TimeNs end);
  struct Reading {
    TimeNs wall = 0, cpu = 0, run_delay = -1;
    Switches switches;
  };
  Reading read();

  std::uint32_t place_ = 0;
  bool measures_ = false;
  bool reports_run_delay_ = false;                   // the operating system
  TimeNs slept_cpu_ = -1;                            // at the end of the last wait in which the thread slept
  std::array<std::uint8_t, kPlaces> short_waits_{};  // in a row, by place
  Reading first_, last_;
  RunDelay run_delay_;
};

}  // namespace wicprof::collector
