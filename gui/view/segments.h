// Before and after: one line per segment, that is, per period without a change of how the program waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::gui {

struct SegmentLine {
  std::string way;    ///< mode and strategy: "poll", "park (auto)"
  std::string trace;  ///< its name, if two traces are compared
  Mode mode = Mode::poll;
  TimeNs begin = 0, end = 0;
  TimeNs seen_begin = 0, seen_end = 0;  ///< the part whose waits are known
  std::size_t iterations = 0;
  std::optional<TimeNs> iteration_p50;
  double wait_share = 0;                 ///< waiting time / total time, over waiters inside kernels
  std::optional<double> polls_per_wait;  ///< nothing without waits
  std::uint64_t waits = 0;               ///< inside kernels, begun in the part whose waits are known
  std::optional<double> host_cpus;       ///< CPUs that host threads use up while they wait; nothing if not known
  std::size_t phases = 1;                ///< segments that the line sums up
};

/// Contents of the before/after panel.
struct BeforeAfter {
  std::vector<SegmentLine> segments;
  std::optional<SegmentLine> before, after;  ///< two segments, or all of both sides; nothing until the first change
  std::optional<analyzer::Speedup> speedup;  ///< between these two; nothing if one has too few iterations
  analyzer::Verdict verdict = analyzer::Verdict::inconclusive;
  std::string why;  ///< why the verdict is inconclusive, in a few words
  std::string reason;
  std::string settle;  ///< the command that leads to a verdict
  std::string measured_at;
  std::vector<std::string> notes;
};

/// `known_from`: the model may lack waits that ended before this time.
SegmentLine line_of(const analyzer::TraceModel& model, const analyzer::Segment& segment, TimeNs known_from = 0);
/// All segments, and the effect that choose_effect() takes.
BeforeAfter before_after(const analyzer::TraceModel& model, const analyzer::Comparison& comparison,
                         TimeNs known_from = 0);
/// Between two traces, each as one line, with the verdict of `comparison`.
BeforeAfter before_after(const analyzer::TraceModel& before, const analyzer::TraceModel& after,
                         const analyzer::Comparison& comparison);
/// The effect of the changes: between all phases of both sides if each side has several, which says more than the last
/// two do; else between the last two.
void choose_effect(BeforeAfter& values, const analyzer::Comparison& comparison);
/// Compares two other segments of `values`, given by their indices.
void choose_pair(BeforeAfter& values, const analyzer::Comparison& comparison, std::size_t before, std::size_t after);

/// One line of a comparison: one quantity on both sides.
struct Difference {
  std::string what, before, after;
  std::string change;                  ///< "-6 %", "121 times shorter"; "-" where a side lacks the value
  std::optional<double> ratio;         ///< after / before
  bool better = false, worse = false;  ///< beyond the tolerance
};
std::vector<Difference> differences(const analyzer::Analysis& before, const analyzer::Analysis& after,
                                    double tolerance);
/// The same between two segments.
std::vector<Difference> differences(const SegmentLine& before, const SegmentLine& after, double tolerance);

}  // namespace wicprof::gui
