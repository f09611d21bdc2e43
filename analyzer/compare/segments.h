// A trace, cut where the program changed how it waits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// A time during which the program waits in one way.
struct Segment {
  std::string trace;  ///< the trace's name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;  ///< iterations that cross either end do not count
  std::vector<Iteration> iterations;
  std::optional<TimeNs> iteration_ns_p50;  ///< nothing without iterations
};

/// In order of time, without iterations; a single segment if nothing changed. Cuts at the interventions on the whole
/// program, or without any, at those on the site that has the most. Adds the other interventions to `notes`.
std::vector<Segment> find_segments(const TraceModel& model, std::vector<std::string>& notes);

/// Adds the iterations that are wholly within [segment.begin_ns, segment.end_ns].
void fill(Segment& segment, const std::vector<Iteration>& iterations);

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations);

}  // namespace wicprof::analyzer
