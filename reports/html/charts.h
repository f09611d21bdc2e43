// The drawings of the HTML report, as SVG. Their size does not grow with the trace: what is too fine is summed up.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/measure/statistics.h"
#include "reports/html/lanes.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// Iteration times over time, a panel a trace: the median and the 10 to 90 % spread, and marks where the way of waiting
/// changed.
std::string iteration_chart(const std::vector<Segment>& segments);

/// The lanes that are worth paper between two times; the height is the part of a lane's waiters that wait. Empty
/// without any such lane.
std::string still_timeline(const TraceModel& model, const Lanes& lanes, Interval window);

}  // namespace wicprof::reports::html
