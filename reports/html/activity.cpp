// Activity other than waits at wait sites: kernels, program counters, host threads, interventions.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"
#include "reports/parts/sample_phrases.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kMaxLoops = 40;
constexpr std::size_t kMaxReasons = 4;

}  // namespace

std::string kernels_part(const TraceModel& model, const Analysis& analysis) {
  const std::vector<KernelStats>& kernels = analysis.kernels;
  if (kernels.empty()) return {};
  Table table({"kernel", ">count", ">total", ">share", ">p50", ">p99", ">max", "occupancy", "waves"});
  const std::size_t shown = std::min(kMaxListedRows, kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = kernels[i];
    table.add({name_of(function_name(k.name)), count(k.count), duration(k.total_ns), percent(k.share),
               duration(k.p50_ns), duration(k.p99_ns), duration(k.max_ns), text_of(occupancy_text(k)),
               text_of(waves_text(k))});
  }
  std::string body = table.str() + and_more(kernels.size(), shown, "kernel");
  for (const GraphStats& graph : analysis.graphs) body += remark(graph_text(graph));
  return section("kernels", "Kernels", body, analyze_command(model));
}

std::string host_part(const TraceModel& model, const Analysis& analysis) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  if (calls.empty()) return {};
  Table table({"call", ">count", ">total", ">p50", ">max", ">CPU time", "how"});
  const std::size_t shown = std::min(kMaxListedRows, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HostWaitStats& c = calls[i];
    table.add({name_of(name_at(c.name, c.place)), count(c.count), duration(c.total_ns), duration(c.p50_ns),
               duration(c.max_ns), duration(c.cpu_ns), std::string(waiting_way_name(c.way()))});
  }
  return section("host-waits", "Host waits", table.str() + and_more(calls.size(), shown, "call"),
                 analyze_command(model));
}

std::string program_counters_part(const TraceModel& model, const Analysis& analysis) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  Table table({"function", ">samples", ">share", "hottest line", "warps stall on"});
  const std::size_t shown = std::min(kMaxListedRows, stalls.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionStalls& function = stalls.functions[i];
    table.add({name_of(function.function), count(function.samples), percent(function.share),
               text_of(hottest_line(function)), text_of(reasons_text(function.reasons, kMaxReasons))});
  }
  std::string body = table.str() + and_more(stalls.functions.size(), shown, "function");
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
  if (const std::string missing = model.meta_value("sass_missing"); !missing.empty()) {
    body += remark("instructions are missing: " + missing);
  }
  return section("program-counters", "Program counters", body, analyze_command(model));
}

std::string interventions_part(const TraceModel& model) {
  if (model.interventions.empty()) return {};
  Table table({"how", ">at", ">took effect after"});
  const std::size_t shown = std::min(kMaxListedSegments, model.interventions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::InterventionRow& row = model.interventions[i];
    table.add({text_of(intervention_text(model, row)), duration(row.requested - model.begin),
               duration(took_effect_after(row))});
  }
  return section("interventions", "Interventions",
                 table.str() + and_more(model.interventions.size(), shown, "intervention"));
}

}  // namespace wicprof::reports::html
