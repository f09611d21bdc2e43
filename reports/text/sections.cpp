#include "reports/text/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kSiteWidth = 24;
constexpr std::size_t kKernelWidth = 40;
constexpr std::size_t kFillingWidth = 20;
constexpr std::size_t kCallWidth = 40;

std::string polls_of(const std::optional<double>& polls) { return polls ? format_number(*polls) : "-"; }

void add_site(TextTable& table, const SiteStats& site) {
  const bool several = site.strategies.size() > 1;
  const std::string strategy = several ? "mixed:" : strategy_mix(site);
  table.add({shorten(one_line(site.name), kSiteWidth), format_count(site.count), format_duration(site.total_ns),
             format_percent(site.share), format_duration(site.p50_ns), format_duration(site.p99_ns),
             polls_of(site.polls_per_wait), strategy});
  if (!several) return;
  for (const StrategyStats& stats : site.strategies) {
    table.add({"", format_count(stats.count), format_duration(stats.total_ns), "", format_duration(stats.p50_ns),
               format_duration(stats.p99_ns), format_number(stats.polls_per_wait),
               std::string(strategy_name(stats.strategy))});
  }
}

}  // namespace

std::string loss_text(const Analysis& analysis) {
  if (analysis.loss.empty()) return {};
  std::string text = "! RECORDS ARE MISSING: counts and totals below are too low\n";
  for (const Loss& loss : analysis.loss) text += paragraph(loss.text, 4);
  return text + "\n";
}

std::string sites_text(const TraceModel& model, const Analysis& analysis, std::size_t most_sites) {
  if (analysis.sites.empty()) return "Wait sites\n" + paragraph(why_no_sites(model, analysis));
  TextTable table("lrrrrrrl", {"Wait site", "count", "total", "share", "p50", "p99", "polls", "strategy"});
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) add_site(table, analysis.sites[i]);
  std::string text = table.str(0) + and_more(analysis.sites.size(), shown, "wait site");
  text += paragraph("share: the part of the iterations' time that a waiter spends waiting here; polls: per wait");
  return text;
}

std::string wakes_text(const Analysis& analysis, std::size_t most_sites) {
  TextTable table("lrrrrl", {"Wake latency", "matched", "p50", "p99", "error", ""});
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const WakeStats& wake = analysis.wakes[i];
    if (wake.matched == 0) continue;
    any = true;
    table.add({shorten(one_line(analysis.sites[i].name), kSiteWidth), format_count(wake.matched),
               format_duration(wake.p50_ns), format_duration(wake.p99_ns),
               wake.error_ns ? "+-" + format_duration(*wake.error_ns) : "unknown",
               wake.unmatched > 0 ? fmt::format("{} without a signal", count_of(wake.unmatched, "wait")) : ""});
  }
  if (!any) return {};
  return table.str(0) + paragraph("from the signal, or from the arrival if that came later, until the waiter resumed");
}

std::string words_text(const Analysis& analysis, std::size_t most_sites) {
  TextTable table("lll", {"Words waited on", "", ""});
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (!site.words_seen) continue;
    any = true;
    table.add({shorten(one_line(site.name), kSiteWidth), words_text(site),
               site.declared ? std::string(memory_name(site.word_memory)) : "-"});
  }
  return any ? table.str(0) : std::string();
}

std::string choices_text(const Analysis& analysis, std::size_t most_sites) {
  std::string text;
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (!site.choice) continue;
    const std::string line = fmt::format("{}: {}", shorten(one_line(site.name), kSiteWidth), choice_text(site));
    text += "  " + wrap(line, kScreenWidth - 2, 4) + "\n";
  }
  return text.empty() ? text : "Choices of auto\n" + text;
}

std::string kernels_text(const Analysis& analysis, std::size_t most) {
  const std::vector<KernelStats>& kernels = analysis.kernels;
  if (kernels.empty()) return {};
  TextTable table("lrrrrrr", {"Kernel", "count", "total", "share", "p50", "p99", "occupancy"});
  const std::size_t shown = std::min(most, kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = kernels[i];
    table.add({shorten(function_name(one_line(k.name)), kKernelWidth), format_count(k.count),
               format_duration(k.total_ns), format_percent(k.share), format_duration(k.p50_ns),
               format_duration(k.p99_ns), k.occupancy ? format_percent(k.occupancy->occupancy) : "-"});
  }
  return table.str(0) + and_more(kernels.size(), shown, "kernel");
}

std::string filling_text(const Analysis& analysis, std::size_t most) {
  TextTable table("lrrrrll", {"How it fills the GPU", "blocks", "threads", "regs", "shared", "occupancy", "waves"});
  const std::size_t shown = std::min(most, analysis.kernels.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = analysis.kernels[i];
    if (!k.occupancy) continue;
    any = true;
    table.add({shorten(function_name(one_line(k.name)), kFillingWidth), format_count(k.blocks),
               std::to_string(k.threads_per_block), std::to_string(k.registers_per_thread),
               format_bytes(k.shared_bytes_per_block), occupancy_text(k), waves_text(k)});
  }
  return any ? table.str(0) +
                   paragraph(
                       "for the launch shape that took the most time; the limit of the occupancy is in brackets; "
                       "waves of blocks, and how full the last wave is")
             : std::string();
}

std::string host_waits_text(const Analysis& analysis, std::size_t most) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  if (calls.empty()) return {};
  TextTable table("lrrrrrl", {"Host wait", "count", "total", "p50", "max", "CPU time", "how"});
  const std::size_t shown = std::min(most, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HostWaitStats& c = calls[i];
    table.add({shorten(one_line(c.name), kCallWidth), format_count(c.count), format_duration(c.total_ns),
               format_duration(c.p50_ns), format_duration(c.max_ns), c.cpu_ns ? format_duration(*c.cpu_ns) : "-",
               c.cpu_ns ? std::string(waiting_way_name(c.way())) : "-"});
  }
  return table.str(0) + and_more(calls.size(), shown, "call");
}

std::string interventions_text(const TraceModel& model, std::size_t most) {
  if (model.interventions.empty()) return {};
  TextTable table("rll", {"Switched at", "how", "took effect after"});
  const std::size_t shown = std::min(most, model.interventions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::InterventionRow& row = model.interventions[i];
    table.add({format_duration(row.requested - model.begin), intervention_text(model, row),
               format_duration(took_effect_after(row))});
  }
  return table.str(0) + and_more(model.interventions.size(), shown, "intervention");
}

namespace {

std::string pairs_text(const Classification& c) {
  TextTable table("llrrll", {"  between", "and", "forth", "back", "model", "pattern"});
  const std::size_t shown = std::min<std::size_t>(8, c.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const PairAnswer& pair = c.pairs[i];
    table.add({"  " + pair.first, pair.second, format_count(pair.forth), format_count(pair.back),
               std::string(model_name(pair.model)), std::string(pattern_name(pair.pattern))});
  }
  return table.str(0) + and_more(c.pairs.size(), shown, "pair");
}

}  // namespace

std::string classification_text(const Classification& c) {
  const auto sure = [](std::string_view name, double confidence) {
    return confidence > 0 ? fmt::format("{} (confidence {:.2f})", name, confidence) : std::string(name);
  };
  std::string text = fmt::format("Communication: {}; pattern: {}\n", sure(model_name(c.model), c.model_confidence),
                                 sure(pattern_name(c.pattern), c.pattern_confidence));
  for (const std::string& line : c.evidence) text += "  - " + wrap(one_line(line), kScreenWidth - 4, 4) + "\n";
  if (c.period.count > 0 && c.period.ns > 0) {
    text += fmt::format("  An iteration is {}: {} of them, {} each (median)\n", c.period.what,
                        format_count(c.period.count), format_duration(c.period.ns));
  }
  if (c.pairs.size() > 1) text += pairs_text(c);
  return text;
}

std::string findings_text(const Analysis& analysis) {
  std::string text = analysis.findings.empty() ? "Findings: none\n" : "Findings\n";
  for (const Finding& finding : analysis.findings) {
    const std::string head = fmt::format("[{}] {}: {}", severity_name(finding.severity), finding.rule, finding.text);
    text += "  " + wrap(head, kScreenWidth - 2, 4) + "\n";
    text += "    because " + wrap(finding.evidence, kScreenWidth - 12, 12) + "\n";
    text += "    do      " + wrap(finding.remedy, kScreenWidth - 12, 12) + "\n";
  }
  for (const Refusal& refusal : analysis.refusals) {
    text +=
        "  " + wrap(fmt::format("[not looked at] {}: {}", refusal.rule, refusal.reason), kScreenWidth - 2, 4) + "\n";
  }
  return text;
}

}  // namespace wicprof::reports
