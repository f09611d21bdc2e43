// The answer of `compare` on the screen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/parts/columns.h"
#include "reports/parts/phrases.h"
#include "reports/text/answers.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

/// More segments would push the answer off the screen.
constexpr std::size_t kMaxSegments = 12;

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::improvement:
    case Verdict::no_change:
      return Ink::good;
    case Verdict::regression:
      return Ink::bad;
    case Verdict::inconclusive:
      break;
  }
  return Ink::warn;
}

std::string duration_or_none(const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : "-"; }

std::string segments_text(const Comparison& comparison, const Screen& screen) {
  if (comparison.segments.empty()) return {};
  const TimeNs origin = comparison.segments.front().begin_ns;
  const bool two_traces = comparison.segments.front().trace != comparison.segments.back().trace;
  TextTable table("lrrrr", heads({two_traces ? column::kTrace : column::kSegment, column::kFrom, column::kTo,
                                  column::kIterations, column::kPerIteration}));
  const std::size_t shown = std::min(kMaxSegments, comparison.segments.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Segment& segment = comparison.segments[i];
    const TimeNs zero = two_traces ? segment.begin_ns : origin;
    std::string way = way_name(segment.mode, segment.strategy);
    if (!segment.apart.empty())
      way += fmt::format(", but {}", one_line(fmt::format("{}", fmt::join(segment.apart, ", "))));
    table.add({two_traces ? one_line(segment.trace) + ", " + way : way, format_duration(segment.begin_ns - zero),
               format_duration(segment.end_ns - zero), format_count(segment.iterations.size()),
               duration_or_none(segment.iteration_ns_p50)});
  }
  std::string text = "\n" + table.str(0, screen.width);
  if (shown < comparison.segments.size()) {
    text += and_more(comparison.segments.size(), shown, "phase");
  }
  return text;
}

/// "-6 % (-14 % to +2 %)". The known spread of single units is the same everywhere, so it is not repeated.
std::string change_of(const Difference& difference) {
  const std::optional<Speedup>& ratio = difference.ratio;
  if (!ratio) return "-";
  const ChangeRange change = change_of_speedup(ratio->value, ratio->low, ratio->high);
  if (difference.method == UnitMethod::spread) return change_text(change.value);
  return fmt::format("{} ({})", change_text(change.value), change_interval_text(change));
}

std::vector<std::string> row_of(std::string name, const Difference& difference) {
  const auto time = [](std::uint64_t count, TimeNs p50) { return count > 0 ? format_duration(p50) : std::string("-"); };
  return {std::move(name), time(difference.before_count, difference.before_p50_ns),
          time(difference.after_count, difference.after_p50_ns), change_of(difference),
          std::string(verdict_name(difference.verdict))};
}

std::string differences_text(const Differences& all, const Screen& screen) {
  if (all.sites.empty()) return {};
  TextTable sites("lrrwl", heads({column::kWait, column::kBefore, column::kAfter, column::kChange, column::kVerdict}));
  for (const SiteDifference& site : all.sites) sites.add(row_of(one_line(name_at(site.site, site.place)), site));
  std::string text = "\n" + sites.str(0, screen.width);
  for (const SiteDifference& site : all.sites) {
    if (!site.before_cpu || !site.after_cpu) continue;
    text += paragraph(screen, fmt::format("Waiting in {} takes {:.2f} of a CPU before, {:.2f} after.",
                                          one_line(name_at(site.site, site.place)), *site.before_cpu, *site.after_cpu));
  }
  if (all.edges.empty()) return text;
  TextTable edges("wrrwl", heads({column::kEdge, column::kBefore, column::kAfter, column::kChange, column::kVerdict}));
  for (const EdgeDifference& edge : all.edges) {
    edges.add(row_of(fmt::format("{} -> {} at {}", one_line(edge.from), one_line(edge.to), one_line(edge.site)), edge));
  }
  return text + "\n" + edges.str(0, screen.width);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Screen& screen) {
  std::string text =
      fmt::format("Verdict: {}{}\n", inked(screen, ink_of(comparison.verdict), verdict_name(comparison.verdict)),
                  comparison.why.empty() ? "" : ": " + comparison.why);
  text += paragraph(screen, one_line(comparison.reason));
  if (!comparison.settle.empty())
    text += paragraph(screen, "To settle it:") + command_lines(screen, one_line(comparison.settle));
  if (comparison.before.iteration_ns_p50 || comparison.after.iteration_ns_p50) {
    const bool phases = comparison.unit == UnitKind::phase;
    TextTable table("lrrr", heads({column::kSide, phases ? column::kPhases : column::kRunsCompared, column::kIterations,
                                   column::kPerIteration}));
    for (const auto& [what, side] : {std::pair{"before", &comparison.before}, std::pair{"after", &comparison.after}}) {
      table.add({fmt::format("{}: {}", what, one_line(side->label)), format_count(side->units),
                 format_count(side->iterations), duration_or_none(side->iteration_ns_p50)});
    }
    text += "\n" + table.str(0, screen.width);
  }
  if (comparison.predicted) {
    text +=
        paragraph(screen, "Predicted from the polling alone: " + gain_text(comparison.predicted) + " times as fast" +
                              (comparison.prediction_error
                                   ? fmt::format("; measured {:.3g}, so the prediction is off by {:+.1f} %.",
                                                 comparison.speedup->value, 100 * *comparison.prediction_error)
                                   : std::string(".")));
  } else if (!comparison.predicted_reason.empty()) {
    text += paragraph(screen, "Not predicted: " + one_line(comparison.predicted_reason) + ".");
  }
  text += segments_text(comparison, screen);
  text += differences_text(comparison.differences, screen);
  text += "\n";
  if (!comparison.measured_at.empty())
    text += paragraph(screen, (comparison.options.nvtx.empty() ? "Iterations of " : "Times of ") +
                                  one_line(comparison.measured_at) + ".");
  if (!comparison.estimator.empty()) text += paragraph(screen, "Estimator: " + one_line(comparison.estimator) + ".");
  text += paragraph(screen, fmt::format("Changes below {:.3g} % are ignored; each side needs at least {} iterations.",
                                        comparison.options.tolerance * 100, comparison.options.min_iterations));
  for (const std::string& note : comparison.notes) text += paragraph(screen, "Note: " + one_line(note) + ".");
  return text;
}

}  // namespace wicprof::reports
