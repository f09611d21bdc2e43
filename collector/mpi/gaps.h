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

  MpiGaps() { own = this; }
  MpiGaps(const MpiGaps&) = delete;
  MpiGaps& operator=(const MpiGaps&) = delete;
  ~MpiGaps() { own = nullptr; }

  /// A call begins then. Returns whether there is enough to take().
  bool enter(TimeNs at) noexcept {
    if (left_ == 0 || at < left_) return false;
    if (sums_.gaps++ == 0) sums_.begin_ns = left_;
    sums_.outside_ns += at - left_;
    sums_.end_ns = at;
    if (at - read_.at < kShort) {
      sums_.cpu_ns += at - left_;
    } else {
      add_last(at);
    }
    return at - sums_.begin_ns >= kEach;
  }
  /// A call has ended then.
  void leave(TimeNs at) noexcept {
    if (read_.at == 0 || at - read_.at >= kShort) read_ = read(at);
    left_ = at;
  }
  /// What is to be recorded.
  std::optional<MpiGapEvent> take() noexcept;

  /// The calling thread's; nullptr: none yet. Found faster than by its key (program/per_thread.h), and trivial, since
  /// programs call MPI from destructors, too.
  static constinit thread_local MpiGaps* own;

 private:
  struct Reading {
    TimeNs at = 0, cpu = 0, run_delay = -1;
  };
  Reading read(TimeNs at) noexcept;
  void add_last(TimeNs at) noexcept;

  RunDelay run_delay_;
  Reading read_;
  TimeNs left_ = 0;  // the end of the last call; 0: there was none
  MpiGapEvent sums_{};
};

}  // namespace wicprof::collector
