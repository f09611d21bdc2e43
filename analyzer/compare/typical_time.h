// The time of an iteration that stands for all iterations of a segment.
#pragma once

#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

enum class TypicalTime {
  median,
  /// By iterations per time: few iterations that take very long count, such as those in which a CPU quota stops the
  /// program, and so does what lies between two ranges. The median leaves both out.
  per_time,
};

/// What counts where a quota stopped the program: per_time for `run --ab` under a quota, and for any recording in which
/// the quota stopped the program for more than 1 % of the time.
TypicalTime typical_time_of(const TraceModel& model);

/// In ns; of at least one iteration.
double typical_time(const std::vector<Iteration>& iterations, TypicalTime typical);

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations);

}  // namespace wicprof::analyzer
