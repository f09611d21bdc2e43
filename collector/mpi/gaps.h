// What a thread does between its calls of MPI: runs, waits for a CPU, or sleeps.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/program/run_delay.h"
#include "protocol/events/mpi.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// Of one thread, used by that thread alone. The scheduler's counters are read at the begin or end of a call, and at
/// most once in kShort, since that costs as much as a call.
class MpiGaps {
 public:
  /// What lies between two readings is part of one time, or times that are shorter than this: they count as on a CPU.
  static constexpr TimeNs kShort = 250 * kMicrosecond;
  /// Between two events.
  static constexpr TimeNs kEach = 10 * kMillisecond;

  /// A call begins then. What to record, once there is enough.
  std::optional<MpiGapEvent> enter(TimeNs at) noexcept;
  /// What is left to record.
  std::optional<MpiGapEvent> take() noexcept;
  /// A call has ended then.
  void leave(TimeNs at) noexcept;

 private:
  struct Reading {
    TimeNs at = 0, cpu = 0, run_delay = -1;
  };
  Reading read(TimeNs at);
  void add_last(TimeNs at);

  RunDelay run_delay_;
  Reading read_;
  TimeNs left_ = 0;  // the end of the last call; 0: there was none
  MpiGapEvent sums_{};
};

}  // namespace wicprof::collector
