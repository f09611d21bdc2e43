// The answer of `compare` on the screen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/text/answers.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

/// More segments would push the answer off the screen.
constexpr std::size_t kMaxSegments = 12;

std::string duration_or_none(const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : "-"; }

std::string segments_text(const Comparison& comparison) {
  if (comparison.segments.empty()) return {};
  const TimeNs origin = comparison.segments.front().begin_ns;
  const bool two_traces = comparison.segments.front().trace != comparison.segments.back().trace;
  TextTable table("lrrrr", {two_traces ? "Trace" : "Segment", "from", "to", "iterations", "p50 per iteration"});
  const std::size_t shown = std::min(kMaxSegments, comparison.segments.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Segment& segment = comparison.segments[i];
    const TimeNs zero = two_traces ? segment.begin_ns : origin;
    std::string way = way_name(segment.mode, segment.strategy);
    if (!segment.apart.empty())
      way += fmt::format(", but {}", one_line(fmt::format("{}", fmt::join(segment.apart, ", "))));
    table.add({two_traces ? shorten(one_line(segment.trace), 40) + ", " + way : way,
               format_duration(segment.begin_ns - zero), format_duration(segment.end_ns - zero),
               format_count(segment.iterations.size()), duration_or_none(segment.iteration_ns_p50)});
  }
  std::string text = "\n" + table.str(0);
  if (shown < comparison.segments.size()) {
    text += fmt::format("and {} more\n", count_of(comparison.segments.size() - shown, "segment"));
  }
  return text;
}

/// "2.1 (1.9 to 2.3)": the time before over the time after.
std::string ratio_text(const Difference& difference) {
  const std::optional<Speedup>& ratio = difference.ratio;
  if (!ratio) return "-";
  if (difference.method == UnitMethod::spread) return fmt::format("{:.3g}", ratio->value);
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", ratio->value, ratio->low, ratio->high);
}

std::vector<std::string> row_of(std::string name, const Difference& difference) {
  const auto time = [](std::uint64_t count, TimeNs p50) { return count > 0 ? format_duration(p50) : std::string("-"); };
  return {std::move(name), time(difference.before_count, difference.before_p50_ns),
          time(difference.after_count, difference.after_p50_ns), ratio_text(difference),
          std::string(verdict_name(difference.verdict))};
}

std::string differences_text(const Differences& all) {
  if (all.sites.empty()) return {};
  TextTable sites("lrrrl", {"Wait (p50)", "before", "after", "before/after", ""});
  for (const SiteDifference& site : all.sites) sites.add(row_of(shorten(one_line(site.site), 40), site));
  std::string text = "\n" + sites.str(0);
  if (all.edges.empty()) return text;
  TextTable edges("lrrrl", {"Wake latency (p50)", "before", "after", "before/after", ""});
  for (const EdgeDifference& edge : all.edges) {
    edges.add(row_of(
        shorten(fmt::format("{} -> {} at {}", one_line(edge.from), one_line(edge.to), one_line(edge.site)), 60), edge));
  }
  return text + "\n" + edges.str(0);
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("Verdict: {}{}\n", verdict_name(comparison.verdict),
                                 comparison.why.empty() ? "" : ": " + comparison.why);
  text += paragraph(one_line(comparison.reason));
  if (!comparison.settle.empty()) text += paragraph("To settle it:") + "    " + one_line(comparison.settle) + "\n";
  if (comparison.before.iteration_ns_p50 || comparison.after.iteration_ns_p50) {
    const bool phases = comparison.unit == UnitKind::phase;
    TextTable table("llrrr", {"", "", phases ? "phases" : "runs", "iterations", "p50 per iteration"});
    for (const auto& [what, side] : {std::pair{"before", &comparison.before}, std::pair{"after", &comparison.after}}) {
      table.add({what, shorten(one_line(side->label), 40), format_count(side->units), format_count(side->iterations),
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
  text += differences_text(comparison.differences);
  text += "\n";
  if (!comparison.measured_at.empty())
    text += paragraph((comparison.options.nvtx.empty() ? "Iterations of " : "Times of ") +
                      one_line(comparison.measured_at) + ".");
  if (!comparison.estimator.empty()) text += paragraph("Estimator: " + one_line(comparison.estimator) + ".");
  text += paragraph(fmt::format("Changes below {:.3g} % are ignored; each side needs at least {} iterations.",
                                comparison.options.tolerance * 100, comparison.options.min_iterations));
  for (const std::string& note : comparison.notes) text += paragraph("Note: " + one_line(note) + ".");
  return text;
}

}  // namespace wicprof::reports
