// How long the scheduler lets the calling thread run at a stretch, where others use its CPUs, too.
#pragma once

#include <cstdint>

#include "protocol/time.h"

namespace wicprof::collector {

/// Linux 6.12 and newer run the thread with the earliest deadline first, and a thread that wakes up with a shorter
/// slice takes the CPU from one with a longer slice. A thread that sleeps for most of its time then waits less for a
/// CPU; its share of the CPU stays as it was. Older systems do nothing. One object per thread, used by that thread
/// alone.
class TimeSlice {
 public:
  /// The shortest that Linux has. On a CPU with one busy thread beside it, a thread that computes for 0.3 ms and sleeps
  /// for 2 ms had its CPU 0.16 ms after waking up with this slice, 0.33 ms with the system's (Linux 6.18).
  static constexpr TimeNs kShort = 100 * kMicrosecond;

  /// Shortens the slice. Does nothing where the thread has asked for something else than the system's own slice and the
  /// usual policy, and once the system has refused. Takes a microsecond, and others may get the CPU: call it seldom. The
  /// threads that the thread starts meanwhile have short slices, too.
  void shorten();
  /// As it was before shorten(), unless the program has changed it since.
  void restore();
  bool is_short() const { return short_; }

 private:
  bool short_ = false, refused_ = false;
};

/// What the calling thread has. 0: the system has no slices, or another policy is in force.
TimeNs time_slice();
/// What the system gives to a thread that has asked for nothing. 0: not known. Looks it up once, with a thread of its
/// own.
TimeNs usual_time_slice();

}  // namespace wicprof::collector
