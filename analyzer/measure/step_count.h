// How many of some intervals hold at a time, as a step function that can be asked for means.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

class StepCount {
 public:
  StepCount() = default;
  /// Intervals without length count for nothing. Beyond a million of them times are rounded to a four-millionth of the
  /// whole, which takes no sorting and bounds the memory.
  explicit StepCount(const std::vector<Interval>& intervals);

  /// The mean number over [begin, end); 0 for an empty one. Logarithmic.
  double mean(TimeNs begin, TimeNs end) const;
  /// The part of [begin, end) in which at least one holds.
  double covered(TimeNs begin, TimeNs end) const;
  std::int64_t at(TimeNs time) const;
  /// The integral of the number over some time.
  struct Where {
    double first = 0, either = 0;
  };
  /// Over the time in which at least one of `a`'s intervals holds, and in which one of `a`'s or `b`'s does. Linear.
  Where count_ns_where(const StepCount& a, const StepCount& b) const;
  /// Asks for stretches that come in order of their begin, each of which is then found near the one before.
  class Walk;
  std::uint32_t most() const { return most_; }
  bool empty() const { return at_.empty(); }

 private:
  struct Sums {
    double count_ns = 0, any_ns = 0;  // from the first step on
  };
  Sums upto(TimeNs time) const;
  Sums upto(TimeNs time, std::size_t after) const;  // after: the first step behind it
  void reserve(std::size_t steps);
  void step(TimeNs time, std::int32_t change);
  void build_sorted(const std::vector<Interval>& intervals);
  void build_rounded(const std::vector<Interval>& intervals);

  std::vector<TimeNs> at_;           // where it steps
  std::vector<std::int32_t> count_;  // from there on
  std::vector<Sums> before_;         // up to there
  std::uint32_t most_ = 0;
};

class StepCount::Walk {
 public:
  /// `of` must outlive it.
  explicit Walk(const StepCount& of) : of_(of) {}
  /// As StepCount::covered().
  double covered(TimeNs begin, TimeNs end);

 private:
  const StepCount& of_;
  std::size_t after_ = 0;
  TimeNs last_ = 0;
};

/// Sorts times; linear, and next to free where they are nearly sorted already.
void sort_times(std::vector<TimeNs>& times);

}  // namespace wicprof::analyzer
