// Before and after: one line for each time in which the program waited in one way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::gui {

struct SegmentLine {
  std::string way;  ///< "poll", "park (auto)"
  Mode mode = Mode::poll;
  TimeNs begin = 0, end = 0;
  TimeNs seen_begin = 0, seen_end = 0;  ///< of this part of it the waits are known
  std::size_t iterations = 0;
  std::optional<TimeNs> iteration_p50;
  double wait_share = 0;               ///< of the time of those who wait inside kernels, how much they wait
  std::optional<double> polls_a_wait;  ///< nothing without waits
};

/// What the before/after panel holds.
struct BeforeAfter {
  std::vector<SegmentLine> segments;
  std::optional<SegmentLine> before, after;  ///< two of them; nothing before the first change
  std::optional<analyzer::Speedup> speedup;  ///< of these two alone; nothing when one has too few iterations
  analyzer::Verdict verdict = analyzer::Verdict::inconclusive;
  std::string reason;
  std::string measured_at;
  std::vector<std::string> notes;
};

/// `known_from`: waits that ended before may be missing from the model.
SegmentLine line_of(const analyzer::TraceModel& model, const analyzer::Segment& segment, TimeNs known_from = 0);
/// All segments, and of them the last two: what the last change did.
BeforeAfter before_after(const analyzer::TraceModel& model, const analyzer::Comparison& comparison,
                         TimeNs known_from = 0);
/// Compares two other segments of `values`, by their places.
void choose_pair(BeforeAfter& values, const analyzer::Comparison& comparison, std::size_t before, std::size_t after);

/// What differs between two sides of a comparison: a line a figure.
struct Difference {
  std::string what, before, after;
  std::optional<double> ratio;         ///< after / before
  bool better = false, worse = false;  ///< beyond the tolerance
};
std::vector<Difference> differences(const analyzer::Analysis& before, const analyzer::Analysis& after,
                                    double tolerance);
/// The same between the two segments.
std::vector<Difference> differences(const SegmentLine& before, const SegmentLine& after, double tolerance);

}  // namespace wicprof::gui
