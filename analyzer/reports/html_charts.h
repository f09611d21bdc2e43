// The drawings of the HTML report, as SVG. Their size does not grow with the trace: what is too fine is summed up.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/statistics.h"

namespace wicprof::analyzer {

/// Iteration times over time, a panel a trace: the median and the 10 to 90 % spread, and marks where the way of waiting
/// changed.
std::string iteration_chart(const std::vector<Segment>& segments);

/// Who waited and how between two times, in a lane for each site and SM; the height is the part of the waiters that
/// wait. Empty when nobody waited then.
std::string wait_timeline(const TraceModel& model, const Analysis& analysis, Interval window);

}  // namespace wicprof::analyzer
