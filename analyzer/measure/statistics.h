// The few statistics that every analysis shares.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// The nearest-rank percentile: the smallest value with at least `percent` of all values at or below it. 0 for no
/// values.
TimeNs percentile(std::vector<TimeNs> values, double percent);
/// The same, without a copy: puts the values in another order.
TimeNs percentile_in_place(std::vector<TimeNs>& values, double percent);

/// A stretch of time, from begin up to but not including end.
struct Interval {
  TimeNs begin = 0, end = 0;
};

/// The length of the union.
TimeNs covered(std::vector<Interval> intervals);

/// The most intervals that hold at one time. One without length counts as one nanosecond long.
std::uint32_t max_at_once(const std::vector<Interval>& intervals);

}  // namespace wicprof::analyzer
