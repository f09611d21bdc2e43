// How long a phase of one way of waiting lasts, and the time per unit of work that stands for it: the same for
// comparisons of both modes (ab_schedule.h) and for the autopilot (auto_rule.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyzer/compare/segments.h"
#include "analyzer/measure/statistics.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// One more than the fewest, since one may lie across the change. Phases vary on their own, hardly less with more
/// iterations (phase_noise.vm2.json): more phases say more.
inline constexpr std::size_t kPhaseIterations = 4;
/// A change takes effect within 1 ms, and the recorder reads every 1 ms: both are then below 5 % of a phase.
inline constexpr TimeNs kShortestPhase = 50 * kMillisecond;
/// What the phase before leaves is then below 10 % of a phase. Not calibrated.
inline constexpr TimeNs kQuotaPeriods = 10;

struct PhaseLength {
  /// Of the CPU quota that the program has; 0: none. What one way of waiting leaves of the quota, the next one has
  /// until the period ends, so a phase lasts several periods.
  TimeNs quota_period = 0;
  TimeNs longest = 0;  ///< a phase with the fewest units ends then
  TimeNs timeout = 0;  ///< a phase ends then whatever it has
  TimeNs least = kShortestPhase;
  std::size_t units = kPhaseIterations;

  TimeNs shortest() const { return std::max(least, kQuotaPeriods * quota_period); }

  bool is_reached(TimeNs elapsed, std::size_t has) const {
    if (elapsed >= std::max(longest, shortest()) && has >= analyzer::kFewestInSegment) return true;
    if (elapsed >= std::max(timeout, shortest())) return true;
    return elapsed >= shortest() && has >= units;
  }

  /// In ns. Under a quota the mean: the median leaves out the units in which the quota stops the program.
  double time_of(const std::vector<TimeNs>& durations) const {
    return quota_period > 0 ? analyzer::mean(durations) : analyzer::median_between_ticks(durations);
  }
};

}  // namespace wicprof::cli
