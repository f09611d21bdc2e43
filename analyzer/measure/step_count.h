// The number of intervals that contain a time, as a step function with means and integrals.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

class StepCount {
 public:
  StepCount() = default;
  /// Ignores empty intervals. Beyond a million intervals, rounds times to a four-millionth of the total time, which
  /// avoids sorting and bounds the memory.
  explicit StepCount(const std::vector<Interval>& intervals);

  /// The mean number over [begin, end); 0 if that is empty. Logarithmic.
  double mean(TimeNs begin, TimeNs end) const;
  /// The share of [begin, end) that at least one interval covers, 0 to 1. Logarithmic.
  double covered(TimeNs begin, TimeNs end) const;
  std::int64_t at(TimeNs time) const;
  /// Integrals of the number over time, in ns.
  struct CoveredCount {
    double first = 0;   ///< over the time that at least one interval of `a` covers
    double either = 0;  ///< over the time that at least one interval of `a` or `b` covers
  };
  /// Linear.
  CoveredCount count_ns_while(const StepCount& a, const StepCount& b) const;
  /// Answers queries in order of their begin; finds each close to the last one.
  class Cursor;
  std::uint32_t max() const { return max_; }
  bool empty() const { return at_.empty(); }

 private:
  struct Sums {
    double count_ns = 0, any_ns = 0;  // since the first step
  };
  Sums sum_until(TimeNs time) const;
  Sums sum_until(TimeNs time, std::size_t after) const;  // after: index of the first step later than `time`
  void reserve(std::size_t steps);
  void step(TimeNs time, std::int32_t change);
  void build_sorted(const std::vector<Interval>& intervals);
  void build_rounded(const std::vector<Interval>& intervals);

  std::vector<TimeNs> at_;           // times of the steps
  std::vector<std::int32_t> count_;  // the number from each step on
  std::vector<Sums> before_;         // the sums up to each step
  std::uint32_t max_ = 0;
};

class StepCount::Cursor {
 public:
  /// `of` must outlive the cursor.
  explicit Cursor(const StepCount& of) : of_(of) {}
  /// As StepCount::covered().
  double covered(TimeNs begin, TimeNs end);

 private:
  const StepCount& of_;
  std::size_t after_ = 0;
  TimeNs last_ = 0;
};

/// Sorts times in linear time; nearly free if they are almost sorted.
void sort_times(std::vector<TimeNs>& times);

}  // namespace wicprof::analyzer
