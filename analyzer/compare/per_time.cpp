#include "analyzer/compare/per_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// An iteration counts as long from so many times its segment's median on. Not calibrated.
constexpr double kLong = 2;
/// Shares of the time in long iterations that differ by less explain nothing. Not calibrated.
constexpr double kWorthNaming = 0.05;

/// From the begin of one iteration to the begin of the next one: what lies between two ranges counts, too.
double time_per_iteration(const std::vector<Iteration>& list) {
  double time = 0, count = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool followed = i + 1 < list.size() && list[i + 1].run == list[i].run && list[i + 1].number > list[i].number;
    time += static_cast<double>(followed ? list[i + 1].begin - list[i].begin : list[i].duration());
    count += followed ? list[i + 1].number - list[i].number : 1;
  }
  return time / count;
}

struct LongOnes {
  double of_iterations = 0, of_time = 0;
};

LongOnes long_ones(const std::vector<Segment>& segments, bool after) {
  double time = 0, long_time = 0, count = 0, long_count = 0;
  for (const Segment& segment : segments) {
    if (segment.after != after || segment.iterations.empty()) continue;
    const double least = kLong * median_between_ticks(durations(segment.iterations));
    for (const Iteration& iteration : segment.iterations) {
      const auto length = static_cast<double>(iteration.duration());
      time += length;
      ++count;
      if (length < least) continue;
      long_time += length;
      ++long_count;
    }
  }
  return time > 0 ? LongOnes{long_count / count, long_time / time} : LongOnes{};
}

}  // namespace

Speedup ratio_per_time(const std::vector<Segment>& segments, const UnitDesign& design, std::size_t fewest) {
  std::vector<Unit> units;
  for (const Segment& segment : segments) {
    if (!segment.after || segment.iterations.size() < fewest) continue;
    units.push_back({*segment.after, segment.begin_ns + (segment.end_ns - segment.begin_ns) / 2, segment.block,
                     std::log(std::max(1.0, time_per_iteration(segment.iterations)))});
  }
  return unit_ratio(units, design).speedup;
}

bool differ_clearly(const Speedup& by_medians, const Speedup& per_time, double tolerance) {
  return per_time.low > by_medians.high * (1 + tolerance) || per_time.high * (1 + tolerance) < by_medians.low;
}

std::string why_medians_differ(const std::vector<Segment>& segments, std::string_view what, std::string_view before,
                               std::string_view after) {
  const LongOnes first = long_ones(segments, false), second = long_ones(segments, true);
  if (std::abs(first.of_time - second.of_time) < kWorthNaming)
    return fmt::format("medians leave out how {} vary, and the time between them", what);
  const auto part = [](const LongOnes& ones, std::string_view side) {
    if (ones.of_time <= 0) return fmt::format("none of those of {} was long", side);
    return fmt::format("{} of those of {} took {} of the time", format_percent(ones.of_iterations), side,
                       format_percent(ones.of_time));
  };
  return fmt::format("medians leave out the few long {}: {}, {}", what, part(first, before), part(second, after));
}

}  // namespace wicprof::analyzer
