// Predicts how long a wait of a host thread will last, from earlier waits at the same place for the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "protocol/time.h"

namespace wicprof::collector {

/// Mean and mean absolute deviation of a series, with forgetting: the estimator that TCP uses for round trips
/// (Jacobson, "Congestion avoidance and control", SIGCOMM 1988), with its gains of 1/8 and 1/4, and 1/16 for a smaller
/// deviation. A value far above the mean counts as a nearer one, so that a single delay does not make steady waits
/// uncertain; several in a row count in full. A value below the mean always counts in full, since a sleep past the end
/// costs more than a poll.
class Series {
 public:
  void add(TimeNs value);
  std::uint32_t count() const { return count_; }
  TimeNs mean() const { return mean_; }
  TimeNs deviation() const { return deviation_; }
  /// The smallest recent value: follows a smaller one at once, and larger ones slowly.
  TimeNs least() const { return least_; }

 private:
  std::uint32_t count_ = 0;
  TimeNs mean_ = 0, deviation_ = 0, least_ = 0;
};

/// What a wait will probably be like. Times in ns from the wait's begin.
struct Forecast {
  TimeNs left = 0;          ///< the expected length
  TimeNs deviation = 0;     ///< mean absolute deviation
  TimeNs least = 0;         ///< the shortest recent wait
  std::uint32_t waits = 0;  ///< earlier waits that it is based on
};

/// The work for which a thread waits: what it launched since its last wait.
struct AwaitedWork {
  std::uint64_t key = 0;       ///< of the kernels and their launch shapes; 0: nothing, or not known
  TimeNs launched = 0;         ///< when the first of it was launched (host time); 0: not known
  std::uint32_t launches = 0;  ///< as far as they are watched

  /// Adds a launch. `shape`: grid and block.
  void add(const void* kernel, const std::uint32_t (&shape)[6], TimeNs now);
};

/// One per thread.
class Predictor {
 public:
  /// Places and works that it distinguishes; it forgets all when there are more. Not calibrated.
  static constexpr std::size_t kMost = 1024;

  /// Nothing before the third wait at the place for the same work. `now`: the wait's begin.
  std::optional<Forecast> forecast(std::uint32_t site, const AwaitedWork& work, TimeNs now) const;

  /// A wait from `begin` to `end` at the place.
  void observe(std::uint32_t site, const AwaitedWork& work, TimeNs begin, TimeNs end);

 private:
  /// A program that computes between launch and wait has waits of all lengths, but the time from launch to end is that
  /// of the kernel; where earlier work still runs at the launch, it is the other way around. The steadier one counts.
  struct Place {
    Series from_wait, from_launch;
  };
  std::unordered_map<std::uint64_t, Place> places_;
};

}  // namespace wicprof::collector
