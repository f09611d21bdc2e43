// Statistics that all analyses share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// The place, from 0 on, of the nearest-rank percentile among `count` sorted values; `count` is not 0.
std::size_t rank_of(double percent, std::size_t count);
/// The nearest-rank percentile: the smallest value with at least `percent` per cent of all values at or below it. 0 for
/// an empty list.
TimeNs percentile(std::vector<TimeNs> values, double percent);
/// Like percentile(), but without a copy: reorders the values.
TimeNs percentile_in_place(std::vector<TimeNs>& values, double percent);

/// The median of times that a clock rounded to its ticks, in ns: percentile(values, 50), shifted within its tick by the
/// share of the equal values that lies below the middle (the median of grouped data). The smallest distance of two
/// values is the tick; times without equal values, or with ticks above 1/50 of the median, which no clock has, stay as
/// they are. 0 for an empty list.
double median_between_ticks(std::vector<TimeNs> values);

/// 0 for an empty list.
double mean(const std::vector<TimeNs>& values);

/// The time interval [begin, end).
struct Interval {
  TimeNs begin = 0, end = 0;
};

/// The length of the intervals' union, in ns.
TimeNs covered(std::vector<Interval> intervals);

}  // namespace wicprof::analyzer
