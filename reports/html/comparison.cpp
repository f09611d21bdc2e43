// The part about the comparison of two modes or two traces.
#include <fmt/format.h>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"
#include "reports/html/charts.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

/// The colour of a side's tile: that of its curve, which is a segment's mode.
std::string_view mode_css(const Comparison& comparison, bool first) {
  const Side& side = first ? comparison.before : comparison.after;
  for (const Segment& segment : comparison.segments) {
    const bool of_side = side.label.starts_with(mode_name(segment.mode)) ||
                         (!segment.trace.empty() && side.label.starts_with(segment.trace));
    if (of_side) return mode_name(segment.mode);
  }
  return first ? "poll" : "park";
}

std::string tile(std::string_view css, std::string_view above, std::string_view value, std::string_view below) {
  return fmt::format(
      "<div class=\"tile {}\"><span class=\"faint\">{}</span> <b>{}</b> <span class=\"faint small\">{}</span></div>\n",
      css, above, value, below);
}

std::string tiles(const Comparison& comparison) {
  std::string out = "<div class=\"tiles\">\n";
  for (const bool first : {true, false}) {
    const Side& side = first ? comparison.before : comparison.after;
    out += tile(mode_css(comparison, first), fmt::format("{}: {}", first ? "before" : "after", text_of(side.label)),
                side.iteration_ns_p50 ? format_duration(*side.iteration_ns_p50) : "-",
                fmt::format("{} in {}", count_of(side.iterations, "iteration"),
                            count_of(side.units, unit_name(comparison.unit))));
  }
  if (const auto& speedup = comparison.speedup) {
    const ChangeRange change = change_of_speedup(speedup->value, speedup->low, speedup->high);
    out += tile("ratio", "time per iteration", change_text(change.value),
                fmt::format("{} {}", comparison.method == UnitMethod::spread ? "known spread:" : "95 % interval:",
                            change_interval_text(change)));
  }
  if (const auto& predicted = comparison.predicted) {
    const std::string error = comparison.prediction_error
                                  ? fmt::format(", off by {}", text_of(format_percent(*comparison.prediction_error)))
                                  : std::string();
    const ChangeRange change = predicted_change(*predicted);
    out += tile("ratio", "predicted from the polling alone", change_text(change.value),
                change_interval_text(change) + error);
  } else if (!comparison.predicted_reason.empty()) {
    out += tile("ratio", "predicted from the polling alone", "not predicted", text_of(comparison.predicted_reason));
  }
  return out + "</div>\n";
}

std::string titled(std::string_view title, const std::string& table) {
  return table.empty() ? table : fmt::format("<h3>{}</h3>\n{}", title, table);
}

std::string differences_part(const Comparison& comparison) {
  const Differences& differences = comparison.differences;
  return titled("Site by site: the median wait", table_html(site_differences_table(differences, kMaxListedRows))) +
         titled("What a waiting host thread takes of a CPU", table_html(cpu_table(differences, kMaxListedRows))) +
         titled("Edge by edge: the median wake latency",
                table_html(edge_differences_table(differences, kMaxListedRows))) +
         titled("Meter by meter: the power", table_html(meter_differences_table(comparison, kMaxListedRows))) +
         titled("Site by site: what polling takes",
                table_html(site_energy_differences_table(differences, kMaxListedRows))) +
         (differences.meters.empty() ? std::string() : remark(energy_legend(comparison) + "."));
}

/// The command that gives the same answer.
std::string command_of_comparison(const TraceModel& model, const Comparison& comparison) {
  const std::string& first = comparison.segments.empty() ? model.name : comparison.segments.front().trace;
  std::string command = "wic-prof compare " + shell_word(first);
  if (first != model.name) command += " " + shell_word(model.name);
  return command;
}

}  // namespace

std::string comparison_part(const TraceModel& model, const Comparison& comparison) {
  const std::string command = command_of_comparison(model, comparison);
  const std::string why = comparison.why.empty() ? std::string() : text_of(comparison.why) + ": ";
  std::string body =
      fmt::format("<p>{} {}{}.</p>\n", verdict_badge(comparison.verdict), why, text_of(comparison.reason));
  if (!comparison.settle.empty())
    body += fmt::format("<p>To settle it: <code>{}</code></p>\n", text_of(comparison.settle));
  if (!comparison.timed.empty()) body += fmt::format("<p>Unit: {}.</p>\n", text_of(comparison.timed));
  if (comparison.segments.empty()) return section("comparison", "Before and after", body, command);
  body += tiles(comparison);
  const std::string chart = iteration_chart(comparison.segments);
  if (!chart.empty()) {
    body += fmt::format(
                "<h3>Time of each {} {}</h3>\n",
                comparison.timed.empty() ? "iteration, by the waits at" : "unit:", text_of(comparison.measured_at)) +
            chart;
  }
  const std::string segments = table_html(segments_table(comparison, kMaxListedSegments));
  body += comparison.segments.size() > kMostMarks
              ? fmt::format("<details><summary>All {} phases</summary>\n{}</details>\n", comparison.segments.size(),
                            segments)
              : titled("Segments", segments);
  body += remark(fmt::format("Changes below {:.3g} % are ignored; each side needs at least {} iterations.",
                             comparison.options.tolerance * 100, comparison.options.min_iterations));
  if (!comparison.estimator.empty()) body += remark("Estimator: " + comparison.estimator + ".");
  for (const std::string& note : comparison.notes) body += remark("Note: " + note + ".");
  return section("comparison", "Before and after", body + differences_part(comparison), command);
}

}  // namespace wicprof::reports::html
