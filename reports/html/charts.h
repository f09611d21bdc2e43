// The drawings of the HTML report, as SVG. Their size does not grow with the trace: details too fine to draw are
// aggregated. Each is drawn twice, for a desktop and for a phone, whose text would be too small in a scaled-down
// drawing; the style shows one of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/measure/statistics.h"
#include "reports/html/lanes.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// Lines at changes of mode across a drawing; more would hide what they divide (chosen).
inline constexpr std::size_t kMostMarks = 24;

/// The time of each iteration, one panel per trace: the median and the 10 to 90 % spread, with marks at changes of
/// mode, and the legend.
std::string iteration_chart(const std::vector<Segment>& segments);

/// The lanes with `on_paper` within `window`; the height is the share of a lane's waiters that wait. Empty if no lane
/// is on paper.
std::string still_timeline(const TraceModel& model, const Lanes& lanes, Interval window);

}  // namespace wicprof::reports::html
