// A trace, cut where the program changed how it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/typical_time.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// Fewer iterations make a median that is one of the extremes.
inline constexpr std::size_t kFewestInSegment = 3;
/// Fewer iterations on either side give no verdict: the interval of a median needs about ten values.
inline constexpr std::size_t kFewestOfSide = 10;

/// A time during which the program waits in one way.
struct Segment {
  std::string trace;  ///< the trace's name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;  ///< iterations that cross either end do not count
  /// The block of the schedule of `run --ab` that the segment belongs to: one segment of each mode, in random order.
  std::optional<std::uint32_t> block = {};
  /// The sites that wait otherwise than the segment's mode says, since they were switched alone. Such a segment belongs
  /// to no side.
  std::vector<std::string> apart = {};
  std::optional<bool> after = {};  ///< the side of the comparison; nothing: neither
  std::vector<Iteration> iterations = {};
  /// Their typical time (fill()). Nothing without iterations.
  std::optional<TimeNs> iteration_ns_p50 = {};
};

/// In order of time, without iterations and sides; a single segment if nothing changed. The segments of a trace of
/// `run --ab` are the phases of its schedule, without the warm-up. Otherwise cuts at the interventions on the whole
/// program, or without any, at those on the site that has the most; and at all others, which set a site apart. Adds to
/// `notes` what is left out.
std::vector<Segment> find_segments(const TraceModel& model, std::vector<std::string>& notes);

/// Adds the iterations that are wholly within [segment.begin_ns, segment.end_ns], and their typical time: a median is
/// one of them.
void fill(Segment& segment, const std::vector<Iteration>& iterations, TypicalTime typical = TypicalTime::median);

}  // namespace wicprof::analyzer
