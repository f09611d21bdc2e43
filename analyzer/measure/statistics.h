// Statistics that all analyses share.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// The nearest-rank percentile: the smallest value with at least `percent` per cent of all values at or below it. 0 for
/// an empty list.
TimeNs percentile(std::vector<TimeNs> values, double percent);
/// Like percentile(), but without a copy: reorders the values.
TimeNs percentile_in_place(std::vector<TimeNs>& values, double percent);

/// The time interval [begin, end).
struct Interval {
  TimeNs begin = 0, end = 0;
};

/// The length of the intervals' union, in ns.
TimeNs covered(std::vector<Interval> intervals);

/// The largest number of intervals that overlap at one time. An empty interval counts as 1 ns long.
std::uint32_t max_concurrent(const std::vector<Interval>& intervals);

}  // namespace wicprof::analyzer
