// The whole report in Markdown.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "reports/markdown/code.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/phrases.h"
#include "reports/parts/report.h"
#include "reports/parts/sample_phrases.h"
#include "reports/parts/tables.h"
#include "reports/parts/verdict.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kMaxFunctions = 50, kMaxReasons = 4, kMaxSites = 50;
constexpr std::size_t kMaxPairs = 50, kMaxDrawn = 8, kDrawingWidth = 72;

/// A table with an empty line below; empty if it has no rows.
std::string table_part(const Table& table) {
  if (table.rows.empty()) return {};
  const std::vector<std::size_t> columns = table.columns(On::pages);
  std::string text = "|", rule = "|";
  for (const std::size_t column : columns) {
    text += fmt::format(" {} |", table.heads[column].text);
    rule += table.heads[column].alignment == 'r' ? " ---: |" : " --- |";
  }
  text += "\n" + rule + "\n";
  for (const Table::Row& row : table.rows) {
    text += "|";
    for (const std::size_t column : columns)
      text += fmt::format(" {} |", escape_markdown(one_line(row.cells[column].text)));
    text += "\n";
  }
  const std::size_t more = table.all - table.rows.size();
  return text + (more > 0 ? fmt::format("\nAnd {} more.\n", count_of(more, table.noun)) : "") + "\n";
}

std::string titled(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format("{}\n\n{}", title, text);
}

/// A command as code, so that it can be copied; anything else as text.
std::string remedy_of(const Finding& finding) {
  if (finding.remedy == finding.command) return markdown_code(finding.remedy);
  const std::string run = finding.command.empty() ? std::string() : "\n  - run: " + markdown_code(finding.command);
  return escape_markdown(one_line(finding.remedy)) + run;
}

std::string loss_part(const Analysis& analysis) {
  if (analysis.loss.empty()) return {};
  std::string text = "> **" + loss_title(analysis) + ".**\n";
  for (const Loss& loss : analysis.loss) text += ">\n> - " + escape_markdown(loss.text) + "\n";
  return text + "\n";
}

std::string verdict_part(const TraceVerdict& verdict) {
  std::string text = fmt::format("**Verdict: {}**\n\n", escape_markdown(one_line(verdict.headline)));
  if (!verdict.detail.empty()) text += escape_markdown(verdict.detail) + "\n\n";
  return verdict.command.empty()
             ? text
             : text + fmt::format("{}: {}\n\n", verdict.command_title(), markdown_code(verdict.command));
}

std::string comparison_part(const Comparison& comparison) {
  std::string text = fmt::format("## Before and after: {}{}\n\n{}.\n\n", verdict_name(comparison.verdict),
                                 comparison.why.empty() ? "" : ": " + escape_markdown(comparison.why),
                                 escape_markdown(comparison.reason));
  if (!comparison.settle.empty()) text += fmt::format("To settle it: {}\n\n", markdown_code(comparison.settle));
  if (comparison.segments.empty()) return text;
  text += table_part(segments_table(comparison, kAllRows));
  if (!comparison.measured_at.empty()) text += fmt::format("{}.\n", escape_markdown(timed_text(comparison)));
  if (!comparison.timed.empty()) text += fmt::format("Unit: {}.\n", escape_markdown(comparison.timed));
  if (!comparison.estimator.empty()) text += fmt::format("Estimator: {}.\n", escape_markdown(comparison.estimator));
  for (const std::string& note : comparison.notes) text += fmt::format("Note: {}.\n", escape_markdown(note));
  const Differences& all = comparison.differences;
  return text + "\n" + titled("### Site by site: the median wait", table_part(site_differences_table(all, kMaxSites))) +
         titled("### What a waiting host thread takes of a CPU", table_part(cpu_table(all, kMaxSites))) +
         titled("### Edge by edge: the median wake latency", table_part(edge_differences_table(all, kMaxSites))) +
         titled("### Meter by meter: the power", table_part(meter_differences_table(comparison, kMaxSites))) +
         titled("### Site by site: what polling takes", table_part(site_energy_differences_table(all, kMaxSites))) +
         (all.meters.empty() ? std::string() : escape_markdown(energy_legend(comparison)) + ".\n\n");
}

std::string sites_part(const TraceModel& model, const Analysis& analysis) {
  std::string text = "## Wait sites\n\n";
  std::string counts = table_part(counted_waits_table(analysis, kAllRows));
  if (!counts.empty()) counts += escape_markdown(counted_legend(analysis)) + ".\n\n";
  if (analysis.sites.empty()) {
    return text + "None: " + escape_markdown(why_no_sites(model, analysis)) + ".\n\n" + counts;
  }
  text += table_part(sites_table(analysis, kAllRows)) + escape_markdown(share_legend()) + ".\n\n" + counts;
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
    const std::string cost = finding.cost ? fmt::format(" ({})", cost_text(*finding.cost)) : std::string();
    text += fmt::format("- **{}** `{}`{}: {}\n", severity_name(finding.severity), finding.rule, cost,
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
  std::string text = "## Kernels\n\n" + table_part(kernels_table(analysis, kAllRows));
  for (const GraphStats& graph : analysis.graphs) text += "- " + escape_markdown(graph_text(graph)) + "\n";
  return analysis.graphs.empty() ? text : text + "\n";
}

std::string pairs_part(const Analysis& analysis) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty()) return {};
  std::string text = "## Kernels that could start earlier\n\n", drawings;
  text += table_part(dependent_kernels_table(kernels, kMaxPairs)) +
          fmt::format("{}\n\n{}\n\n", escape_markdown(pairs_summary(kernels)), kPairsAssume);
  for (std::size_t i = 0; i < std::min(kMaxDrawn, kernels.pairs.size()); ++i) {
    const std::string line = wave_line(kernels.pairs[i], kDrawingWidth);
    if (!line.empty()) drawings += fmt::format("- {}: `{}`\n", escape_markdown(pair_name(kernels.pairs[i])), line);
  }
  return drawings.empty() ? text : text + fmt::format("Waves. {}.\n\n{}\n", kWaveLineLegend, drawings);
}

std::string program_counters_part(const TraceModel& model, const Analysis& analysis) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  std::string text = "## Program counters\n\n" + table_part(functions_table(analysis, kMaxFunctions, kMaxReasons));
  for (const DeviceSamples& device : stalls.devices) text += "- " + escape_markdown(samples_line(model, device)) + "\n";
  for (const PollingLoop& loop : analysis.polling_loops) {
    text += "- " + escape_markdown(loop_text(loop)) + "\n";
    if (loop.code.empty()) continue;
    text += "\n";
    for (const std::string& line : loop.code) text += "      " + one_line(line) + "\n";
    text += "\n";
  }
  text += table_part(mbarrier_waits_table(analysis, kMaxFunctions));
  const std::string missing = model.meta_value(store::MetaKey::sass_missing);
  if (!missing.empty()) text += "- instructions are missing: " + escape_markdown(missing) + "\n";
  return text + "\n";
}

}  // namespace

template <>
std::string render_as<struct Markdown>(const ReportInput& input) {
  const TraceModel& model = input.model;
  const Analysis& analysis = input.analysis;
  std::string text = "# wic-prof: " + escape_markdown(command_of(model)) + "\n\n";
  text += loss_part(analysis) + verdict_part(trace_verdict(model, analysis, input.comparison));
  text += escape_markdown(trace_line(model, analysis)) + ".\n\n";
  if (const std::string dump = dump_line(model); !dump.empty()) text += escape_markdown(dump) + ".\n\n";
  if (input.comparison != nullptr) text += comparison_part(*input.comparison);
  for (const std::string& sentence : digest_sentences(model)) text += escape_markdown(sentence) + "\n\n";
  const std::string ranks = titled("## Ranks", table_part(mpi_ranks_table(model, analysis, kAllRows)) +
                                                   table_part(mpi_calls_table(analysis, kAllRows)) +
                                                   table_part(digest_totals_table(model, analysis, kAllRows)));
  if (model.is_digest()) {
    text += findings_part(analysis) + ranks;
    text.erase(text.find_last_not_of('\n') + 1);
    return text + "\n";
  }
  text += sites_part(model, analysis) + findings_part(analysis) + ranks + classification_part(analysis.classification);
  std::string energy = table_part(energy_table(analysis, kAllRows)) + table_part(site_energy_table(analysis, kAllRows));
  if (!energy.empty()) energy += escape_markdown(energy_legend(analysis)) + ".\n\n";
  text += titled("## Energy", energy) + kernels_part(analysis) + pairs_part(analysis) +
          titled("## Kernels beside a holder of SMs", table_part(crowded_table(analysis, kMaxPairs))) +
          program_counters_part(model, analysis) +
          titled("## Host waits", table_part(host_waits_table(analysis, kAllRows))) +
          titled("## Interventions", table_part(interventions_table(model, kAllRows))) +
          titled("## Decisions of the autopilot", table_part(decisions_table(model, kAllRows)));
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace wicprof::reports
