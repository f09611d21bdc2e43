#include "analyzer/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/measure/step_count.h"

namespace wicprof::analyzer {

std::size_t rank_of(double percent, std::size_t count) {
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(count));
  return static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(count))) - 1;
}

TimeNs percentile(std::vector<TimeNs> values, double percent) { return percentile_in_place(values, percent); }

TimeNs percentile_in_place(std::vector<TimeNs>& values, double percent) {
  if (values.empty()) return 0;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank_of(percent, values.size()));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

double median_between_ticks(std::vector<TimeNs> values) {
  if (values.empty()) return 0;
  sort_times(values);
  const std::size_t n = values.size();
  const TimeNs median = values[(n - 1) / 2];  // the nearest rank
  TimeNs tick = median / 50 + 1;
  for (std::size_t i = 1; i < n; ++i) {
    if (values[i] > values[i - 1]) tick = std::min(tick, values[i] - values[i - 1]);
  }
  const auto [first, last] = std::equal_range(values.begin(), values.end(), median);
  const auto middle = static_cast<double>(median);
  if (last - first < 2 || tick > median / 50) return middle;
  const double below = static_cast<double>(n) / 2 - static_cast<double>(first - values.begin());
  return middle + static_cast<double>(tick) * (below / static_cast<double>(last - first) - 0.5);
}

double mean(const std::vector<TimeNs>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TimeNs covered(std::vector<Interval> intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), earlier)) {
    std::sort(intervals.begin(), intervals.end(), earlier);
  }
  TimeNs total = 0;
  bool any = false;
  TimeNs reach = 0;
  for (const Interval& interval : intervals) {
    const TimeNs from = any ? std::max(interval.begin, reach) : interval.begin;
    if (interval.end > from) total += interval.end - from;
    reach = any ? std::max(reach, interval.end) : interval.end;
    any = true;
  }
  return total;
}

}  // namespace wicprof::analyzer
