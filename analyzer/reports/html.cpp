#include "analyzer/reports/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "analyzer/colours.h"
#include "analyzer/figures/list.h"
#include "analyzer/reports/figure_report.h"
#include "analyzer/reports/format.h"
#include "analyzer/reports/html_charts.h"
#include "analyzer/reports/html_style.h"
#include "analyzer/reports/model_text.h"
#include "analyzer/reports/parts.h"
#include "analyzer/reports/stalls_parts.h"

namespace wicprof::analyzer {
namespace {

// Rows of each table; a report stays readable and below about 1 MB.
constexpr std::size_t kMostSites = 100;
constexpr std::size_t kMostKernels = 50;
constexpr std::size_t kMostFindings = 100;
constexpr std::size_t kMostLoops = 40;
constexpr std::size_t kMostReasons = 4;
constexpr std::size_t kMostSegments = 40;
constexpr std::size_t kNameWidth = 200;
/// Of the slower iterations, so many are shown on either side of a change of the way of waiting, ...
constexpr TimeNs kCloseUpIterations = 3;
/// ... their length taken from so many neighbours of the change.
constexpr std::size_t kCloseUpNeighbours = 15;

std::string text_of(std::string_view text) { return escape_html(shorten(one_line(text), 4 * kNameWidth)); }
std::string name_of(std::string_view name) {
  return "<code>" + escape_html(shorten(one_line(name), kNameWidth)) + "</code>";
}

/// Cells of numbers are marked by a leading '>' in the header.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> header) {
    html_ = "<div class=\"scroll\"><table><thead><tr>";
    for (std::string& cell : header) {
      const bool number = cell.front() == '>';
      numbers_.push_back(number);
      html_ += fmt::format("<th{}>{}</th>", number ? " class=\"n\"" : "", number ? cell.substr(1) : cell);
    }
    html_ += "</tr></thead><tbody>\n";
  }
  /// Cells are HTML.
  void add(std::initializer_list<std::string> cells, std::string_view row_class = {}) {
    html_ += row_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row_class);
    std::size_t column = 0;
    for (const std::string& cell : cells) {
      const char* css = numbers_[column] ? " class=\"n\"" : (column == 0 ? " class=\"name\"" : "");
      html_ += fmt::format("<td{}>{}</td>", css, cell);
      ++column;
    }
    html_ += "</tr>\n";
  }
  std::string str() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::string html_;
  std::vector<bool> numbers_;
};

std::string section(std::string_view title, std::string_view body, std::string_view css = {}) {
  return fmt::format("<section{}>\n<h2>{}</h2>\n{}</section>\n", css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                     title, body);
}

std::string and_more(std::size_t all, std::size_t shown, std::string_view noun) {
  return all > shown ? fmt::format("<p class=\"faint small\">and {} more</p>\n", count_of(all - shown, noun))
                     : std::string();
}

std::string or_dash(const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : "-"; }

std::string header_part(const TraceModel& model, const Analysis& analysis) {
  std::string out = "<header>\n";
  const std::string app = model.meta_value("app");
  out += fmt::format("<h1>{}</h1>\n", text_of(app.empty() ? model.name : app));
  if (!command_of(model).empty()) out += fmt::format("<p><code>{}</code></p>\n", text_of(command_of(model)));
  out += fmt::format("<p class=\"faint\">{}</p>\n<dl class=\"facts small\">", text_of(trace_line(model, analysis)));
  const auto fact = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", what, text_of(value));
  };
  fact("recorded", model.meta_value("started_utc"));
  fact("host", model.meta_value("host"));
  fact("trace", model.name);
  fact("mode", model.meta_value("mode"));
  fact("schedule", model.meta_value("schedule"));
  fact("exit status", model.meta_value("app_status"));
  fact("ended by signal", model.meta_value("app_signal"));
  fact("wic-prof", model.meta_value("wic_prof_version"));
  return out + "</dl>\n</header>\n";
}

std::string loss_part(const Analysis& analysis) {
  if (analysis.loss.empty()) return {};
  std::string list = "<ul>\n";
  for (const Loss& loss : analysis.loss) list += fmt::format("<li>{}</li>\n", text_of(loss.text));
  return section("Records are missing: counts and totals below are too low", list + "</ul>\n", "loss");
}

std::string verdict_badge(Verdict verdict) {
  std::string_view css;
  if (verdict == Verdict::improvement) css = " good";
  if (verdict == Verdict::regression) css = " bad";
  if (verdict == Verdict::inconclusive) css = " warn";
  return fmt::format("<span class=\"badge{}\">{}</span>", css, verdict_name(verdict));
}

std::string_view mode_css(const Comparison& comparison, bool first) {
  if (comparison.segments.empty()) return "poll";
  // A tile takes the colour of its curve.
  const Side& side = first ? comparison.before : comparison.after;
  for (const Segment& segment : comparison.segments) {
    const bool same = side.label.rfind(mode_name(segment.mode), 0) == 0 || side.label.rfind(segment.trace, 0) == 0;
    if (same) return mode_name(segment.mode);
  }
  return first ? "poll" : "park";
}

std::string tiles(const Comparison& comparison) {
  std::string out = "<div class=\"tiles\">\n";
  for (const bool first : {true, false}) {
    const Side& side = first ? comparison.before : comparison.after;
    out += fmt::format(
        "<div class=\"tile {}\"><span class=\"faint\">{}: {}</span><b>{}</b><span class=\"faint small\">median of "
        "{}</span></div>\n",
        mode_css(comparison, first), first ? "before" : "after", text_of(side.label), or_dash(side.iteration_ns_p50),
        count_of(side.iterations, "iteration"));
  }
  if (const auto& speedup = comparison.speedup) {
    out += fmt::format(
        "<div class=\"tile ratio\"><span class=\"faint\">times as fast</span><b>{:.3g}\u00d7</b>"
        "<span class=\"faint small\">95 % interval {:.3g} to {:.3g}</span></div>\n",
        speedup->value, speedup->low, speedup->high);
  }
  return out + "</div>\n";
}

std::string segments_table(const Comparison& comparison) {
  HtmlTable table({"segment", "strategy", ">from", ">to", ">iterations", ">p50 of an iteration"});
  const std::size_t shown = std::min(kMostSegments, comparison.segments.size());
  const bool two_traces = comparison.segments.front().trace != comparison.segments.back().trace;
  for (std::size_t i = 0; i < shown; ++i) {
    const Segment& segment = comparison.segments[i];
    TimeNs zero = segment.begin_ns;
    for (const Segment& other : comparison.segments) {
      if (other.trace == segment.trace) zero = std::min(zero, other.begin_ns);
    }
    table.add({text_of((two_traces ? segment.trace + ": " : "") + std::string(mode_name(segment.mode))),
               std::string(strategy_name(segment.strategy)), format_duration(segment.begin_ns - zero),
               format_duration(segment.end_ns - zero), format_count(segment.iterations.size()),
               or_dash(segment.iteration_ns_p50)});
  }
  return table.str() + and_more(comparison.segments.size(), shown, "segment");
}

std::string mode_legend(bool lanes) {
  std::string out = "<div class=\"legend\">";
  out +=
      "<span><i style=\"background:var(--poll)\"></i>polling</span><span><i "
      "style=\"background:var(--park)\"></i>parked</span>";
  if (lanes) {
    out +=
        "<span><i style=\"background:var(--lane)\"></i>not waiting: computing or idle</span>"
        "<span><i style=\"background:var(--host)\"></i>CPU thread waits</span>"
        "<span><i style=\"background:var(--kernel)\"></i>kernel runs</span>";
  } else {
    out += "<span>line: median; band: 10 to 90 %; dashed: the way of waiting changed</span>";
  }
  return out + "</div>\n";
}

std::string comparison_part(const Comparison& comparison) {
  std::string body = fmt::format("<p>{} {}.</p>\n", verdict_badge(comparison.verdict), text_of(comparison.reason));
  if (comparison.segments.empty()) return section("Before and after", body);
  body += tiles(comparison);
  const std::string chart = iteration_chart(comparison.segments);
  if (!chart.empty())
    body += fmt::format("<h3>Iteration time, by the waits at {}</h3>\n", text_of(comparison.measured_at)) + chart +
            mode_legend(false);
  body += "<h3>Segments</h3>\n" + segments_table(comparison);
  body += fmt::format(
      "<p class=\"faint small\">A change below {:.3g} % is no change; {} iterations on either side are the least that "
      "says anything.</p>\n",
      comparison.options.tolerance * 100, comparison.options.min_iterations);
  for (const std::string& note : comparison.notes)
    body += fmt::format("<p class=\"faint small\">Note: {}.</p>\n", text_of(note));
  return section("Before and after", body);
}

std::string sites_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.sites.empty())
    return section("Wait sites", fmt::format("<p>None: {}.</p>\n", text_of(why_no_sites(model, analysis))));
  HtmlTable table({"site", "strategy", ">count", ">waiters", ">total", ">share", ">any", ">p50", ">p99",
                   ">polls a wait", ">wake p50"});
  const std::size_t shown = std::min(kMostSites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    const WakeStats& wake = analysis.wakes[i];
    const std::string_view memory = site.declared ? memory_name(site.word_memory) : "place of its word not recorded";
    const std::string words = site.words_seen ? "; " + words_text(site) : "";
    table.add({name_of(site.name) + fmt::format("<br><span class=\"faint small\">{}{}</span>", memory, words),
               site.strategies.size() > 1 ? "mixed" : strategy_mix(site), format_count(site.count),
               format_count(site.groups), format_duration(site.total_ns), text_of(format_percent(site.share)),
               text_of(format_percent(site.any_share)), format_duration(site.p50_ns), format_duration(site.p99_ns),
               site.polls_per_wait ? format_number(*site.polls_per_wait) : "-",
               wake.matched > 0 ? format_duration(wake.p50_ns) : "-"});
    if (site.strategies.size() < 2) continue;
    for (const StrategyStats& stats : site.strategies) {
      table.add({"", std::string(strategy_name(stats.strategy)), format_count(stats.count), "",
                 format_duration(stats.total_ns), "", "", format_duration(stats.p50_ns), format_duration(stats.p99_ns),
                 format_number(stats.polls_per_wait), ""},
                "sub");
    }
  }
  std::string choices;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (site.choice) choices += fmt::format("<li>{} {}</li>\n", name_of(site.name), text_of(choice_text(site)));
  }
  if (!choices.empty()) choices = fmt::format("<p>What <code>auto</code> chose:</p>\n<ul class=\"small\">\n{}</ul>\n", choices);
  return section(
      "Wait sites",
      table.str() + and_more(analysis.sites.size(), shown, "wait site") + choices +
          fmt::format("<p class=\"faint small\">{}. Wake: from the signal, or the arrival if that came later, "
                      "until the waiter resumed.</p>\n",
                      text_of(share_legend())));
}

/// The median length of the iterations just before a change, or just after it, whichever is longer; 0 without any.
TimeNs slower_side(const std::vector<Iteration>& iterations, const store::InterventionRow& row) {
  std::vector<TimeNs> before, after;
  for (const Iteration& iteration : iterations) {
    if (iteration.end <= row.requested) before.push_back(iteration.duration());
    if (iteration.begin >= row.effective && after.size() < kCloseUpNeighbours) after.push_back(iteration.duration());
  }
  if (before.size() > kCloseUpNeighbours) before.erase(before.begin(), before.end() - kCloseUpNeighbours);
  return before.empty() || after.empty() ? 0 : std::max(percentile(before, 50), percentile(after, 50));
}

/// A stretch around the first change of the way of waiting, in which single iterations can be seen.
std::optional<Interval> close_up(const TraceModel& model, const Analysis& analysis) {
  if (!analysis.iterations) return std::nullopt;
  // The first change after waits began: one at the start shows only one side.
  for (const store::InterventionRow& row : model.interventions) {
    if (row.old_mode == row.new_mode) continue;
    const TimeNs reach = kCloseUpIterations * slower_side(analysis.iterations->list, row);
    if (reach == 0 || row.effective - reach < model.begin || row.effective + reach > model.end) continue;
    return Interval{row.effective - reach, row.effective + reach};
  }
  return std::nullopt;
}

std::string timeline_part(const TraceModel& model, const Analysis& analysis) {
  const std::string whole = wait_timeline(model, analysis, {model.begin, model.end});
  if (whole.empty()) return {};
  std::string body = whole;
  if (const auto window = close_up(model, analysis)) {
    body += "<h3>Around the change of the way of waiting</h3>\n" + wait_timeline(model, analysis, *window);
  }
  body += mode_legend(true);
  body +=
      "<p class=\"faint small\">A lane is a wait site on one SM; the filled height is the part of its waiters that "
      "wait. Where a site "
      "has more than six SMs, six spread over all of them are drawn.</p>\n";
  return section("Waits over time", body);
}

std::string findings_part(const Analysis& analysis) {
  std::string body;
  const std::size_t shown = std::min(kMostFindings, analysis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = analysis.findings[i];
    std::string_view css;
    if (finding.severity == Severity::critical) css = " bad";
    if (finding.severity == Severity::warning) css = " warn";
    const bool command = finding.remedy.rfind("wic-prof ", 0) == 0;
    const std::string remedy =
        command ? fmt::format("<code>{}</code>", text_of(finding.remedy)) : text_of(finding.remedy);
    body += fmt::format("<div class=\"finding\"><p><span class=\"badge{}\">{}</span> <code>{}</code> {}</p>\n", css,
                        severity_name(finding.severity), text_of(finding.rule), text_of(finding.text));
    body += fmt::format("<dl class=\"small\"><dt>because</dt><dd>{}</dd><dt>do</dt><dd>{}</dd></dl></div>\n",
                        text_of(finding.evidence), remedy);
  }
  if (body.empty()) body = "<p>None.</p>\n";
  body += and_more(analysis.findings.size(), shown, "finding");
  for (const Refusal& refusal : analysis.refusals) {
    body += fmt::format("<p class=\"faint small\">Not looked at: <code>{}</code>: {}.</p>\n", text_of(refusal.rule),
                        text_of(refusal.reason));
  }
  return section("Findings", body);
}

std::string classification_part(const Classification& c) {
  const auto sure = [](std::string_view what, std::string_view name, double confidence) {
    const std::string how =
        confidence > 0 ? fmt::format(" <span class=\"faint\">confidence {:.2f}</span>", confidence) : "";
    return fmt::format("{} <b>{}</b>{}", what, name, how);
  };
  std::string body =
      fmt::format("<p>{} &nbsp; {}</p>\n<ul class=\"small\">\n", sure("Model", model_name(c.model), c.model_confidence),
                  sure("pattern", pattern_name(c.pattern), c.pattern_confidence));
  for (const std::string& line : c.evidence) body += fmt::format("<li>{}</li>\n", text_of(line));
  return section("Communication", body + "</ul>\n");
}

std::string kernels_part(const Analysis& analysis) {
  const std::vector<KernelStats>& kernels = analysis.kernels;
  if (kernels.empty()) return {};
  HtmlTable table({"kernel", ">count", ">total", ">share", ">p50", ">p99", ">max", "occupancy", "waves"});
  const std::size_t shown = std::min(kMostKernels, kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = kernels[i];
    table.add({name_of(k.name), format_count(k.count), format_duration(k.total_ns), text_of(format_percent(k.share)),
               format_duration(k.p50_ns), format_duration(k.p99_ns), format_duration(k.max_ns),
               text_of(occupancy_text(k)), text_of(waves_text(k))});
  }
  return section("Kernels", table.str() + and_more(kernels.size(), shown, "kernel"));
}

std::string host_part(const Analysis& analysis) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  if (calls.empty()) return {};
  HtmlTable table({"call", ">count", ">total", ">p50", ">max", ">CPU time", "how"});
  const std::size_t shown = std::min(kMostKernels, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HostWaitStats& c = calls[i];
    table.add({name_of(c.name), format_count(c.count), format_duration(c.total_ns), format_duration(c.p50_ns),
               format_duration(c.max_ns), or_dash(c.cpu_ns), std::string(waiting_way_name(c.way()))});
  }
  return section("Host waits", table.str() + and_more(calls.size(), shown, "call"));
}

std::string program_counters_part(const TraceModel& model, const Analysis& analysis) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  HtmlTable table({"function", ">samples", ">share", "hottest line", "warps stand at"});
  const std::size_t shown = std::min(kMostKernels, stalls.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionStalls& function = stalls.functions[i];
    table.add({name_of(function.function), format_count(function.samples), text_of(format_percent(function.share)),
               text_of(hottest_line(function)), text_of(reasons_text(function.reasons, kMostReasons))});
  }
  std::string body = table.str() + and_more(stalls.functions.size(), shown, "function");
  for (const DeviceSamples& device : stalls.devices) {
    body += fmt::format("<p class=\"faint small\">{}</p>\n", text_of(samples_line(model, device)));
  }
  const std::size_t loops = std::min(kMostLoops, analysis.polling_loops.size());
  for (std::size_t i = 0; i < loops; ++i) {
    const PollingLoop& loop = analysis.polling_loops[i];
    body += fmt::format("<div class=\"finding\"><p>{}</p>\n", text_of(loop_text(loop)));
    if (!loop.code.empty()) {
      body += "<pre class=\"scroll\"><code>";
      for (const std::string& line : loop.code) body += escape_html(shorten(one_line(line), kNameWidth)) + "\n";
      body += "</code></pre>\n";
    }
    body += "</div>\n";
  }
  body += and_more(analysis.polling_loops.size(), loops, "loop");
  if (const std::string missing = model.meta_value("sass_missing"); !missing.empty()) {
    body += fmt::format("<p class=\"faint small\">instructions are missing: {}</p>\n", text_of(missing));
  }
  return section("Program counters", body);
}

std::string waiting_part(const TraceModel& model, const Analysis& analysis) {
  std::string body;
  for (const std::string& text :
       {wait_model_text(model, analysis, kMostSites), interference_text(model, analysis, kMostReasons),
        critical_path_text(analysis, kMostSites), prediction_text(analysis, kMostSites)}) {
    if (!text.empty()) body += fmt::format("<pre class=\"scroll\"><code>{}</code></pre>\n", escape_html(text));
  }
  return body.empty() ? body : section("Who waited for whom", body);
}

std::string figures_part(const TraceModel& model) {
  if (model.waits.empty() && model.host_waits.empty()) return {};
  const FigureInput input = figure_input({&model});
  std::string body;
  for (const FigureInfo& info : figures()) {
    const Figure figure = make_figure(info.number, input);
    body += fmt::format("<h3>Figure {}: {}</h3>\n", info.number, text_of(figure.title));
    if (!figure.missing.empty()) {
      body += fmt::format("<p class=\"small\">Could not look: {}.</p>\n", text_of(figure.missing));
      continue;
    }
    body += figure_svg(figure) + fmt::format("<p class=\"faint small\">{}.</p>\n", text_of(figure.formula));
    for (const std::string& note : figure.notes) {
      body += fmt::format("<p class=\"faint small\">Note: {}.</p>\n", text_of(note));
    }
  }
  return section("The WIC paper's figures, of this program", body);
}

std::string interventions_part(const TraceModel& model) {
  if (model.interventions.empty()) return {};
  HtmlTable table({"how", ">at", ">in force after"});
  const std::size_t shown = std::min(kMostSegments, model.interventions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::InterventionRow& row = model.interventions[i];
    table.add({text_of(intervention_text(model, row)), format_duration(row.requested - model.begin),
               format_duration(took_effect_after(row))});
  }
  return section("Interventions", table.str() + and_more(model.interventions.size(), shown, "intervention"));
}

}  // namespace

std::string report_html(const ReportInput& input) {
  const TraceModel& model = input.model;
  const Analysis& analysis = input.analysis;
  const std::string title = model.meta_value("app").empty() ? model.name : model.meta_value("app");
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
  page += fmt::format("<title>{} - wic-prof</title>\n<style>:root {{ color-scheme: light dark;{} }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n{}</style>\n</head>\n<body>\n<main>\n", text_of(title),
                      css_variables(false), css_variables(true), kHtmlStyle);
  page += header_part(model, analysis) + loss_part(analysis);
  if (input.comparison != nullptr) page += comparison_part(*input.comparison);
  page += findings_part(analysis) + sites_part(model, analysis) + timeline_part(model, analysis);
  page += waiting_part(model, analysis) + figures_part(model);
  page +=
      classification_part(analysis.classification) + kernels_part(analysis) + program_counters_part(model, analysis) +
      host_part(analysis) + interventions_part(model);
  return page +
         "<footer>Written by wic-prof. This file needs no network and runs no "
         "scripts.</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace wicprof::analyzer
