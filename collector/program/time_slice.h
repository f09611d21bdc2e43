// How long the scheduler lets the calling thread run at a stretch, where others use its CPUs, too.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "protocol/time.h"

namespace wicprof::collector {

class ShortSlices;

/// Linux 6.12 and newer run the thread with the earliest deadline first, and a thread that wakes up with a shorter
/// slice takes the CPU from one with a longer slice. A thread that sleeps for most of its time then waits less for a
/// CPU; its share of the CPU stays as it was. Older systems do nothing. One object per thread, used by that thread
/// alone.
class TimeSlice {
 public:
  /// On a CPU with one busy thread beside it, a thread that computed for 0.5 ms between waits of 2 ms went on 0.06 ms
  /// after them with this slice, 0.24 ms with the system's (docs/results/host_sharing_slices.h200.json). With 0.1 ms,
  /// the shortest that Linux has, others took the CPU in the middle of its computing. No round number, so that it is
  /// none that a program has asked for.
  static constexpr TimeNs kShort = 700 * kMicrosecond - 17;

  explicit TimeSlice(ShortSlices& of_process) : of_process_(of_process) {}
  TimeSlice(const TimeSlice&) = delete;
  TimeSlice& operator=(const TimeSlice&) = delete;
  ~TimeSlice();

  /// Whether a thread that computes for so long between its waits fits into a short slice.
  static bool fits(TimeNs computing) { return computing < kShort - kShort / 8; }

  /// Shortens the slice. Does nothing where the thread has asked for something else than the system's own slice and the
  /// usual policy, and once the system has refused. Takes a microsecond, and others may get the CPU: call it seldom.
  /// The threads that the thread starts meanwhile have short slices, too, until ShortSlices::mend().
  void shorten();
  /// As it was before shorten(), unless the program has changed it since.
  void restore();
  bool is_short() const { return short_; }

 private:
  ShortSlices& of_process_;
  bool short_ = false, refused_ = false;
  pid_t thread_ = 0;  // that has a short one
};

/// What a thread has; 0 is the calling one. 0: the system has no slices, or another policy is in force.
TimeNs time_slice(pid_t thread = 0);
/// Gives a thread of any process the system's slice, if it has a shortened one.
void restore_short_slice(pid_t thread = 0);
/// What the system gives to a thread that has asked for nothing. 0: not known. Looks it up once, with a thread of its
/// own.
TimeNs usual_time_slice();

}  // namespace wicprof::collector
