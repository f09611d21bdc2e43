// Activity other than waits at wait sites: kernels, program counters, host threads, interventions.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"
#include "reports/parts/sample_phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kMaxLoops = 40;
constexpr std::size_t kMaxReasons = 4;

}  // namespace

std::string energy_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.energy.empty()) return {};
  return section("energy", "Energy",
                 table_html(energy_table(analysis, kMaxListedRows)) +
                     table_html(site_energy_table(analysis, kMaxListedRows)) + remark(energy_legend(analysis) + "."),
                 analyze_command(model));
}

std::string kernels_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.kernels.empty()) return {};
  std::string body = table_html(kernels_table(analysis, kMaxListedRows));
  for (const GraphStats& graph : analysis.graphs) body += remark(graph_text(graph));
  return section("kernels", "Kernels", body, analyze_command(model));
}

std::string host_part(const TraceModel& model, const Analysis& analysis) {
  const std::string table = table_html(host_waits_table(analysis, kMaxListedRows));
  return table.empty() ? table : section("host-waits", "Host waits", table, analyze_command(model));
}

std::string program_counters_part(const TraceModel& model, const Analysis& analysis) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  std::string body = table_html(functions_table(analysis, kMaxListedRows, kMaxReasons));
  for (const DeviceSamples& device : stalls.devices) body += remark(samples_line(model, device));
  const std::size_t loops = std::min(kMaxLoops, analysis.polling_loops.size());
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
  body += table_html(mbarrier_waits_table(analysis, kMaxListedRows));
  if (const std::string missing = model.meta_value(store::MetaKey::sass_missing); !missing.empty()) {
    body += remark("instructions are missing: " + missing);
  }
  return section("program-counters", "Program counters", body, analyze_command(model));
}

std::string interventions_part(const TraceModel& model) {
  const std::string table = table_html(interventions_table(model, kMaxListedSegments)) +
                            table_html(decisions_table(model, kMaxListedSegments));
  return table.empty() ? table : section("interventions", "Interventions", table);
}

}  // namespace wicprof::reports::html
