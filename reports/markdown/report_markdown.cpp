// The whole report in Markdown.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "analyzer/words/format.h"
#include "reports/markdown/code.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/phrases.h"
#include "reports/parts/report.h"
#include "reports/parts/sample_phrases.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kMaxFunctions = 50, kMaxSites = 50;
constexpr std::size_t kMaxPairs = 50, kMaxDrawn = 8, kDrawingWidth = 72;

std::string row(std::initializer_list<std::string> cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

// "<0.1 %" would begin a tag.
std::string percent(double share) { return escape_markdown(format_percent(share)); }

std::string or_dash(const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : "-"; }

/// A command as code, so that it can be copied; anything else as text.
std::string remedy_of(const Finding& finding) {
  const bool command = finding.remedy.rfind("wic-prof ", 0) == 0;
  return command ? markdown_code(finding.remedy) : escape_markdown(one_line(finding.remedy));
}

std::string loss_part(const Analysis& analysis) {
  if (analysis.loss.empty()) return {};
  std::string text = "> **" + loss_title(analysis) + ".**\n";
  for (const Loss& loss : analysis.loss) text += ">\n> - " + escape_markdown(loss.text) + "\n";
  return text + "\n";
}

/// What the waits of host threads took of a CPU; empty if that is not known of any site.
std::string cpu_part(const Differences& differences) {
  std::string text;
  std::size_t rows = 0;
  for (const SiteDifference& site : differences.sites) {
    if (!site.before_cpu || !site.after_cpu || rows++ >= kMaxSites) continue;
    text += row({escape_markdown(name_at(site.site, site.place)), fmt::format("{:.2f}", *site.before_cpu),
                 fmt::format("{:.2f}", *site.after_cpu)});
  }
  if (rows == 0) return {};
  if (rows > kMaxSites) text += fmt::format("\n... and {} more sites.\n", rows - kMaxSites);
  return "\nWhat a waiting host thread takes of a CPU:\n\n" + row({"site", "before", "after"}) +
         "| --- | ---: | ---: |\n" + text;
}

std::string comparison_part(const Comparison& comparison) {
  std::string text = fmt::format("## Before and after: {}{}\n\n{}.\n\n", verdict_name(comparison.verdict),
                                 comparison.why.empty() ? "" : ": " + escape_markdown(comparison.why),
                                 escape_markdown(comparison.reason));
  if (!comparison.settle.empty()) text += fmt::format("To settle it: {}\n\n", markdown_code(comparison.settle));
  if (comparison.segments.empty()) return text;
  text += row({"trace", "mode", "strategy", "from", "to", "iterations", "p50 per iteration"});
  text += "| --- | --- | --- | ---: | ---: | ---: | ---: |\n";
  for (const Segment& segment : comparison.segments) {
    // Times of each trace from its own start.
    TimeNs zero = segment.begin_ns;
    for (const Segment& other : comparison.segments) {
      if (other.trace == segment.trace) zero = std::min(zero, other.begin_ns);
    }
    text += row({escape_markdown(segment.trace), std::string(mode_name(segment.mode)),
                 escape_markdown(strategy_name(segment.strategy)), format_duration(segment.begin_ns - zero),
                 format_duration(segment.end_ns - zero), format_count(segment.iterations.size()),
                 or_dash(segment.iteration_ns_p50)});
  }
  text += "\n";
  if (!comparison.measured_at.empty())
    text += fmt::format("Iterations of {}.\n", escape_markdown(comparison.measured_at));
  if (!comparison.estimator.empty()) text += fmt::format("Estimator: {}.\n", escape_markdown(comparison.estimator));
  for (const std::string& note : comparison.notes) text += fmt::format("Note: {}.\n", escape_markdown(note));
  return text + cpu_part(comparison.differences) + "\n";
}

std::string sites_part(const TraceModel& model, const Analysis& analysis) {
  std::string text = "## Wait sites\n\n";
  if (analysis.sites.empty()) return text + "None: " + escape_markdown(why_no_sites(model, analysis)) + ".\n\n";
  text += row({"site", "count", "waiters", "words", "total", "share", "any", "p50", "p99", "polls per wait", "wake p50",
               "strategy"});
  text += "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
  for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
    const SiteStats& site = analysis.sites[i];
    const WakeStats& wake = analysis.wakes[i];
    text +=
        row({escape_markdown(site.name), format_count(site.count), format_count(site.groups), words_text(site),
             format_duration(site.total_ns), percent(site.share), percent(site.any_share), format_duration(site.p50_ns),
             format_duration(site.p99_ns), site.polls_per_wait ? format_number(*site.polls_per_wait) : "-",
             wake.matched > 0 ? format_duration(wake.p50_ns) : "-", escape_markdown(strategy_mix(site))});
  }
  text += "\n" + escape_markdown(share_legend()) + ".\n\n";
  std::string choices;
  for (const SiteStats& site : analysis.sites) {
    if (site.choice)
      choices += fmt::format("- {}: {}\n", escape_markdown(site.name), escape_markdown(choice_text(site)));
  }
  std::string edges;
  for (const SiteStats& site : analysis.sites) {
    for (const std::string& each : {released_text(analysis, site.site), open_text(analysis, site.site)}) {
      if (!each.empty()) edges += fmt::format("- {}: {}\n", escape_markdown(site.name), escape_markdown(each));
    }
  }
  if (!edges.empty()) text += "Writers of the words of patched loops:\n\n" + edges + "\n";
  return choices.empty() ? text : text + "What `auto` chose:\n\n" + choices + "\n";
}

std::string classification_part(const Classification& c) {
  std::string text = "## Communication\n\n";
  const auto sure = [](std::string_view name, double confidence) {
    return fmt::format("**{}**{}", name, confidence > 0 ? fmt::format(", confidence {:.2f}", confidence) : "");
  };
  text += fmt::format("Model: {}. Pattern: {}.\n\n", sure(model_name(c.model), c.model_confidence),
                      sure(pattern_name(c.pattern), c.pattern_confidence));
  for (const std::string& line : c.evidence) text += "- " + escape_markdown(line) + "\n";
  return text + "\n";
}

std::string findings_part(const Analysis& analysis) {
  std::string text = "## Findings\n\n";
  if (analysis.findings.empty()) text += "None.\n";
  for (const Finding& finding : analysis.findings) {
    text += fmt::format("- **{}** `{}`: {}\n", severity_name(finding.severity), finding.rule,
                        escape_markdown(finding.text));
    text += fmt::format("  - because: {}\n  - do: {}\n", escape_markdown(finding.evidence), remedy_of(finding));
  }
  for (const Refusal& refusal : analysis.refusals) {
    text += fmt::format("- not looked at: `{}`: {}\n", refusal.rule, escape_markdown(refusal.reason));
  }
  return text + "\n";
}

std::string kernels_part(const Analysis& analysis) {
  if (analysis.kernels.empty()) return {};
  std::string text = "## Kernels\n\n" +
                     row({"kernel", "count", "total", "share", "p50", "p99", "max", "occupancy", "waves"}) +
                     "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n";
  for (const KernelStats& k : analysis.kernels) {
    text += row({escape_markdown(function_name(k.name)), format_count(k.count), format_duration(k.total_ns),
                 percent(k.share), format_duration(k.p50_ns), format_duration(k.p99_ns), format_duration(k.max_ns),
                 occupancy_text(k), waves_text(k)});
  }
  if (!analysis.graphs.empty()) text += "\n";
  for (const GraphStats& graph : analysis.graphs) text += "- " + escape_markdown(graph_text(graph)) + "\n";
  return text + "\n";
}

std::string pairs_part(const Analysis& analysis) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty()) return {};
  std::string text = "## Kernels that could start earlier\n\n|", rule = "|", drawings;
  for (std::size_t column = 0; column < kPairColumns.size(); ++column) {
    text += fmt::format(" {} |", pair_head(column));
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  const std::size_t shown = std::min(kMaxPairs, kernels.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const DependentPair& pair = kernels.pairs[i];
    text += "|";
    for (const std::string& cell : pair_cells(pair)) text += fmt::format(" {} |", escape_markdown(cell));
    text += "\n";
    const std::string line = i < kMaxDrawn ? wave_line(pair, kDrawingWidth) : std::string();
    if (!line.empty()) drawings += fmt::format("- {}: `{}`\n", escape_markdown(pair_name(pair)), line);
  }
  if (shown < kernels.pairs.size())
    text += fmt::format("\nAnd {} more.\n", count_of(kernels.pairs.size() - shown, "pair"));
  text += fmt::format("\n{}\n\n{}\n\n", escape_markdown(pairs_summary(kernels)), kPairsAssume);
  return drawings.empty() ? text : text + fmt::format("Waves. {}.\n\n{}\n", kWaveLineLegend, drawings);
}

std::string crowded_part(const Analysis& analysis) {
  const std::vector<CrowdedKernel>& list = analysis.crowded_kernels;
  if (list.empty()) return {};
  std::string text = "## Kernels beside a holder of SMs\n\n|", rule = "|";
  for (const Column& each : kCrowdedColumns) {
    text += fmt::format(" {} |", each.head);
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t i = 0; i < std::min(kMaxPairs, list.size()); ++i) {
    text += "|";
    for (const std::string& cell : crowded_cells(list[i])) text += fmt::format(" {} |", escape_markdown(cell));
    text += "\n";
  }
  return text + "\n";
}

std::string program_counters_part(const TraceModel& model, const Analysis& analysis) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  std::string text = "## Program counters\n\n" +
                     row({"function", "samples", "share", "hottest line", "warps stall on"}) +
                     "| --- | ---: | ---: | --- | --- |\n";
  for (std::size_t i = 0; i < std::min(kMaxFunctions, stalls.functions.size()); ++i) {
    const FunctionStalls& f = stalls.functions[i];
    text += row({escape_markdown(f.function), format_count(f.samples), percent(f.share),
                 escape_markdown(hottest_line(f)), escape_markdown(reasons_text(f.reasons, 4))});
  }
  text += "\n";
  for (const DeviceSamples& device : stalls.devices) text += "- " + escape_markdown(samples_line(model, device)) + "\n";
  for (const PollingLoop& loop : analysis.polling_loops) {
    text += "- " + escape_markdown(loop_text(loop)) + "\n";
    if (loop.code.empty()) continue;
    text += "\n";
    for (const std::string& line : loop.code) text += "      " + one_line(line) + "\n";
    text += "\n";
  }
  const std::string missing = model.meta_value("sass_missing");
  if (!missing.empty()) text += "- instructions are missing: " + escape_markdown(missing) + "\n";
  return text + "\n";
}

std::string host_part(const Analysis& analysis) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  if (calls.empty()) return {};
  std::string text = "## Host waits\n\n" + row({"call", "count", "total", "p50", "max", "CPU time", "how"}) +
                     "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
  for (const HostWaitStats& c : calls) {
    text += row({escape_markdown(name_at(c.name, c.place)), format_count(c.count), format_duration(c.total_ns),
                 format_duration(c.p50_ns), format_duration(c.max_ns), or_dash(c.cpu_ns),
                 std::string(waiting_way_name(c.way()))});
  }
  return text + "\n";
}

std::string interventions_part(const TraceModel& model) {
  if (model.interventions.empty()) return {};
  std::string text = "## Interventions\n\n" + row({"at", "how", "took effect after"}) + "| ---: | --- | ---: |\n";
  for (const store::InterventionRow& i : model.interventions) {
    text += row({format_duration(i.requested - model.begin), escape_markdown(intervention_text(model, i)),
                 format_duration(took_effect_after(i))});
  }
  return text + "\n";
}

}  // namespace

template <>
std::string render_as<struct Markdown>(const ReportInput& input) {
  const TraceModel& model = input.model;
  const Analysis& analysis = input.analysis;
  std::string text = "# wic-prof: " + escape_markdown(command_of(model)) + "\n\n";
  text += loss_part(analysis);
  text += escape_markdown(trace_line(model, analysis)) + ".\n\n";
  if (input.comparison != nullptr) text += comparison_part(*input.comparison);
  text += sites_part(model, analysis) + findings_part(analysis) + classification_part(analysis.classification);
  text += kernels_part(analysis) + pairs_part(analysis) + crowded_part(analysis) +
          program_counters_part(model, analysis) + host_part(analysis) + interventions_part(model);
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace wicprof::reports
