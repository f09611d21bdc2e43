// A trace cut where the way of waiting changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// A time during which the program waited in one way.
struct Segment {
  std::string trace;  ///< the trace's name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;  ///< iterations that reach over either end are left out
  std::vector<Iteration> iterations;
  std::optional<TimeNs> iteration_ns_p50;  ///< nothing without iterations
};

/// In order of time, without iterations; a single one where nothing changed. Cut at the interventions on the whole
/// program, else at those on the one site that has most of them; `notes` is told what is not cut at.
std::vector<Segment> find_segments(const TraceModel& model, std::vector<std::string>& notes);

/// Adds those that lie wholly within [segment.begin_ns, segment.end_ns].
void fill(Segment& segment, const std::vector<Iteration>& iterations);

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations);

}  // namespace wicprof::analyzer
