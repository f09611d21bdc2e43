// The answer of `compare` on the screen.
#include <fmt/format.h>

#include "analyzer/analysis.h"
#include "analyzer/reports/format.h"
#include "analyzer/reports/model_text.h"
#include "analyzer/reports/text_parts.h"

namespace wicprof::analyzer {
namespace {

std::string duration_or_none(const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : "-"; }

std::string segments_text(const Comparison& comparison) {
  if (comparison.segments.empty()) return {};
  const TimeNs origin = comparison.segments.front().begin_ns;
  const bool two_traces = comparison.segments.front().trace != comparison.segments.back().trace;
  TextTable table("lrrrr", {two_traces ? "Trace" : "Segment", "from", "to", "iterations", "p50 of an iteration"});
  for (const Segment& segment : comparison.segments) {
    const TimeNs zero = two_traces ? segment.begin_ns : origin;
    const std::string way = way_name(segment.mode, segment.strategy);
    table.add({two_traces ? shorten(one_line(segment.trace), 40) + ", " + way : way,
               format_duration(segment.begin_ns - zero), format_duration(segment.end_ns - zero),
               format_count(segment.iterations.size()), duration_or_none(segment.iteration_ns_p50)});
  }
  return "\n" + table.str(0);
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("Verdict: {}\n", verdict_name(comparison.verdict));
  text += paragraph(one_line(comparison.reason));
  if (comparison.before.iteration_ns_p50 || comparison.after.iteration_ns_p50) {
    TextTable table("llrr", {"", "", "iterations", "p50 of an iteration"});
    for (const auto& [what, side] : {std::pair{"before", &comparison.before}, std::pair{"after", &comparison.after}}) {
      table.add({what, shorten(one_line(side->label), 40), format_count(side->iterations),
                 duration_or_none(side->iteration_ns_p50)});
    }
    text += "\n" + table.str(0);
  }
  if (comparison.predicted) {
    text += paragraph("Predicted from the polling alone: " + gain_text(comparison.predicted) + " times as fast" +
                      (comparison.prediction_error
                           ? fmt::format("; measured {:.3g}, so the prediction is off by {:+.1f} %.",
                                         comparison.speedup->value, 100 * *comparison.prediction_error)
                           : std::string(".")));
  } else if (!comparison.predicted_reason.empty()) {
    text += paragraph("Not predicted: " + one_line(comparison.predicted_reason) + ".");
  }
  text += segments_text(comparison);
  text += "\n";
  if (!comparison.measured_at.empty())
    text += paragraph("Iterations are those of " + one_line(comparison.measured_at) + ".");
  text += paragraph(fmt::format(
      "A change below {:.3g} % is no change; {} iterations on either side are the least that says anything.",
      comparison.options.tolerance * 100, comparison.options.min_iterations));
  for (const std::string& note : comparison.notes) text += paragraph("Note: " + one_line(note) + ".");
  return text;
}

}  // namespace wicprof::analyzer
