// The part about the comparison of two modes or two traces.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"
#include "reports/html/charts.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"

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
      "<div class=\"tile {}\"><span class=\"faint\">{}</span><b>{}</b><span class=\"faint small\">{}</span></div>\n",
      css, above, value, below);
}

std::string tiles(const Comparison& comparison) {
  std::string out = "<div class=\"tiles\">\n";
  for (const bool first : {true, false}) {
    const Side& side = first ? comparison.before : comparison.after;
    out += tile(mode_css(comparison, first), fmt::format("{}: {}", first ? "before" : "after", text_of(side.label)),
                duration(side.iteration_ns_p50).html,
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
    const ChangeRange change = change_of_speedup(predicted->value, predicted->low, predicted->high);
    out += tile("ratio", "predicted from the polling alone", change_text(change.value),
                change_interval_text(change) + error);
  } else if (!comparison.predicted_reason.empty()) {
    out += tile("ratio", "predicted from the polling alone", "not predicted", text_of(comparison.predicted_reason));
  }
  return out + "</div>\n";
}

std::string segments_table(const Comparison& comparison) {
  Table table({"segment", "strategy", ">from", ">to", ">iterations", ">p50 per iteration"});
  const std::size_t shown = std::min(kMaxListedSegments, comparison.segments.size());
  const bool two_traces = comparison.segments.front().trace != comparison.segments.back().trace;
  for (std::size_t i = 0; i < shown; ++i) {
    const Segment& segment = comparison.segments[i];
    TimeNs zero = segment.begin_ns;
    for (const Segment& other : comparison.segments) {
      if (other.trace == segment.trace) zero = std::min(zero, other.begin_ns);
    }
    table.add({text_of((two_traces ? segment.trace + ": " : "") + std::string(mode_name(segment.mode))),
               std::string(strategy_name(segment.strategy)), duration(segment.begin_ns - zero),
               duration(segment.end_ns - zero), count(segment.iterations.size()), duration(segment.iteration_ns_p50)});
  }
  return table.str() + and_more(comparison.segments.size(), shown, "segment");
}

void add_difference(const Difference& difference, std::string what, Table& table) {
  const auto& ratio = difference.ratio;
  table.add({std::move(what), difference.before_count > 0 ? duration(difference.before_p50_ns) : Cell("-"),
             difference.after_count > 0 ? duration(difference.after_p50_ns) : Cell("-"),
             ratio ? Cell(change_text(1 / ratio->value), 1 / ratio->value) : Cell("-"),
             ratio && difference.method != UnitMethod::spread
                 ? Cell(change_interval_text(change_of_speedup(ratio->value, ratio->low, ratio->high)))
                 : Cell("-"),
             verdict_badge(difference.verdict)});
}

/// Of the sites of host threads.
std::string cpu_table(const std::vector<SiteDifference>& sites) {
  Table table({"site", ">CPUs while waiting, before", ">after"});
  std::size_t rows = 0;
  for (const SiteDifference& site : sites) {
    if (!site.before_cpu || !site.after_cpu || rows++ >= kMaxListedRows) continue;
    table.add({name_of(name_at(site.site, site.place)), Cell(fmt::format("{:.2f}", *site.before_cpu), *site.before_cpu),
               Cell(fmt::format("{:.2f}", *site.after_cpu), *site.after_cpu)});
  }
  return rows == 0 ? std::string()
                   : "<h3>What a waiting host thread takes of a CPU</h3>\n" + table.str() +
                         and_more(rows, std::min(rows, kMaxListedRows), "site");
}

std::string differences_part(const Differences& differences) {
  std::string out;
  const std::size_t sites = std::min(kMaxListedRows, differences.sites.size());
  const std::size_t edges = std::min(kMaxListedRows, differences.edges.size());
  if (sites > 0) {
    Table table({"site", ">wait before", ">after", ">change", ">95 % interval", "verdict"});
    for (std::size_t i = 0; i < sites; ++i)
      add_difference(differences.sites[i], name_of(name_at(differences.sites[i].site, differences.sites[i].place)),
                     table);
    out += "<h3>Site by site: the median wait</h3>\n" + table.str() + and_more(differences.sites.size(), sites, "site");
    out += cpu_table(differences.sites);
  }
  if (edges > 0) {
    Table table({"from signaller to waiter", ">latency before", ">after", ">change", ">95 % interval", "verdict"});
    for (std::size_t i = 0; i < edges; ++i) {
      const EdgeDifference& edge = differences.edges[i];
      add_difference(edge, text_of(edge.from) + " \u2192 " + text_of(edge.to) + ", " + name_of(edge.site), table);
    }
    out += "<h3>Edge by edge: the median wake latency</h3>\n" + table.str() +
           and_more(differences.edges.size(), edges, "edge");
  }
  return out;
}

/// The command that gives the same answer.
std::string command_of_comparison(const TraceModel& model, const Comparison& comparison) {
  const std::string& first = comparison.segments.empty() ? model.name : comparison.segments.front().trace;
  std::string command = "wic-prof compare " + shell_word(first);
  if (first != model.name) command += " " + shell_word(model.name);
  return command;
}

}  // namespace

std::string verdict_badge(Verdict verdict) {
  std::string_view css;
  if (verdict == Verdict::improvement) css = " good";
  if (verdict == Verdict::regression) css = " bad";
  if (verdict == Verdict::inconclusive) css = " warn";
  return fmt::format("<span class=\"badge{}\">{}</span>", css, verdict_name(verdict));
}

std::string comparison_part(const TraceModel& model, const Comparison& comparison) {
  const std::string command = command_of_comparison(model, comparison);
  const std::string why = comparison.why.empty() ? std::string() : text_of(comparison.why) + ": ";
  std::string body =
      fmt::format("<p>{} {}{}.</p>\n", verdict_badge(comparison.verdict), why, text_of(comparison.reason));
  if (!comparison.settle.empty())
    body += fmt::format("<p>To settle it: <code>{}</code></p>\n", text_of(comparison.settle));
  if (comparison.segments.empty()) return section("comparison", "Before and after", body, command);
  body += tiles(comparison);
  const std::string chart = iteration_chart(comparison.segments);
  if (!chart.empty()) {
    body += fmt::format("<h3>Time of each iteration, by the waits at {}</h3>\n", text_of(comparison.measured_at)) +
            chart +
            "<div class=\"legend\"><span><i class=\"poll\"></i>polling</span><span><i class=\"park\"></i>parked</span>"
            "<span>line: median; band: 10 to 90 %; dashed: a change of mode</span></div>\n";
  }
  body += "<h3>Segments</h3>\n" + segments_table(comparison);
  body += remark(fmt::format("Changes below {:.3g} % are ignored; each side needs at least {} iterations.",
                             comparison.options.tolerance * 100, comparison.options.min_iterations));
  if (!comparison.estimator.empty()) body += remark("Estimator: " + comparison.estimator + ".");
  for (const std::string& note : comparison.notes) body += remark("Note: " + note + ".");
  return section("comparison", "Before and after", body + differences_part(comparison.differences), command);
}

}  // namespace wicprof::reports::html
