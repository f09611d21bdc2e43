#include "reports/text/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyzer/words/format.h"
#include "reports/parts/columns.h"
#include "reports/parts/phrases.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

std::string polls_of(const std::optional<double>& polls) { return polls ? format_number(*polls) : "-"; }

void add_site(TextTable& table, const SiteStats& site) {
  const bool several = site.strategies.size() > 1;
  const std::string strategy = several ? "mixed:" : strategy_mix(site);
  table.add({one_line(site.name), format_count(site.count), format_duration(site.total_ns), format_percent(site.share),
             format_duration(site.p50_ns), format_duration(site.p99_ns), polls_of(site.polls_per_wait), strategy});
  if (!several) return;
  for (const StrategyStats& stats : site.strategies) {
    table.add({"", format_count(stats.count), format_duration(stats.total_ns), "", format_duration(stats.p50_ns),
               format_duration(stats.p99_ns), format_number(stats.polls_per_wait),
               std::string(strategy_name(stats.strategy))});
  }
}

}  // namespace

std::string loss_text(const Analysis& analysis, const Screen& screen) {
  if (analysis.loss.empty()) return {};
  std::string title = loss_title(analysis);
  const std::size_t end = std::min(title.find(':'), title.size());
  std::transform(title.begin(), title.begin() + static_cast<std::ptrdiff_t>(end), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = "! " + title + "\n";
  for (const Loss& loss : analysis.loss) text += paragraph(screen, loss.text, 4);
  return text + "\n";
}

std::string sites_text(const TraceModel& model, const Analysis& analysis, std::size_t most_sites,
                       const Screen& screen) {
  if (analysis.sites.empty()) return "Wait sites\n" + paragraph(screen, why_no_sites(model, analysis));
  TextTable table("lrrrrrrl", heads({column::kWaitSite, column::kWaits, column::kTotal, column::kShare, column::kP50,
                                     column::kP99, column::kPolls, column::kStrategy}));
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) add_site(table, analysis.sites[i]);
  std::string text = table.str(0, screen.width) + and_more(analysis.sites.size(), shown, "wait site");
  text += paragraph(screen,
                    "share: the part of the iterations' time that a waiter spends waiting here; polls: how often it "
                    "looks at the word, per wait");
  return text;
}

std::string wakes_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  TextTable table("lrrrrr", heads({column::kWakeLatency, column::kMatched, column::kP50, column::kP99, column::kError,
                                   column::kUnmatched}));
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const WakeStats& wake = analysis.wakes[i];
    if (wake.matched == 0) continue;
    any = true;
    table.add({one_line(analysis.sites[i].name), format_count(wake.matched), format_duration(wake.p50_ns),
               format_duration(wake.p99_ns), wake.error_ns ? "+-" + format_duration(*wake.error_ns) : "unknown",
               wake.unmatched > 0 ? format_count(wake.unmatched) : "-"});
  }
  std::string text;
  if (any) {
    text = table.str(0, screen.width) +
           paragraph(screen, "from the signal, or from the arrival if that came later, until the waiter went on");
  }
  std::string open;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteId site = analysis.sites[i].site;
    const std::string by = released_text(analysis, site), why = open_text(analysis, site);
    if (by.empty() && why.empty()) continue;
    const std::string line = (by.empty() ? "" : "released " + by + (why.empty() ? "" : "; ")) + why;
    open += paragraph(screen, one_line(analysis.sites[i].name) + ": " + line, 2, 2);
  }
  return open.empty() ? text : text + (text.empty() ? "" : "\n") + "Writers of the words of patched loops\n" + open;
}

std::string words_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  TextTable table("lll", heads({column::kWords, column::kLookedAt, column::kMemory}));
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (!site.words_seen) continue;
    any = true;
    table.add(
        {one_line(site.name), words_text(site), site.declared ? std::string(memory_name(site.word_memory)) : "-"});
  }
  return any ? table.str(0, screen.width) : std::string();
}

std::string choices_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen) {
  std::string text;
  const std::size_t shown = std::min(most_sites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    if (!site.choice) continue;
    const std::string line = fmt::format("{}: {}", one_line(site.name), choice_text(site));
    text += paragraph(screen, line, 2, 2);
  }
  return text.empty() ? text : "Choices of auto\n" + text;
}

std::string kernels_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<KernelStats>& kernels = analysis.kernels;
  if (kernels.empty()) return {};
  TextTable table("lrrrrrr", heads({column::kKernel, column::kLaunches, column::kTotal, column::kShare, column::kP50,
                                    column::kP99, column::kOccupancy}));
  const std::size_t shown = std::min(most, kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = kernels[i];
    table.add({function_name(one_line(k.name)), format_count(k.count), format_duration(k.total_ns),
               format_percent(k.share), format_duration(k.p50_ns), format_duration(k.p99_ns),
               k.occupancy ? format_percent(k.occupancy->occupancy) : "-"});
  }
  return table.str(0, screen.width) + and_more(kernels.size(), shown, "kernel");
}

std::string graphs_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<GraphStats>& graphs = analysis.graphs;
  std::string text;
  const std::size_t shown = std::min(most, graphs.size());
  for (std::size_t i = 0; i < shown; ++i) text += paragraph(screen, graph_text(graphs[i]), 2, 2);
  return text + and_more(graphs.size(), shown, "graph");
}

std::string filling_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  TextTable table("lrrrrww", heads({column::kFilling, column::kBlocks, column::kThreads, column::kRegisters,
                                    column::kShared, column::kOccupancy, column::kWaves}));
  const std::size_t shown = std::min(most, analysis.kernels.size());
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& k = analysis.kernels[i];
    if (!k.occupancy) continue;
    any = true;
    table.add({function_name(one_line(k.name)), format_count(k.blocks), std::to_string(k.threads_per_block),
               std::to_string(k.registers_per_thread), format_bytes(k.shared_bytes_per_block), occupancy_text(k),
               waves_text(k)});
  }
  return any ? table.str(0, screen.width) +
                   paragraph(screen,
                             "for the launch shape that took the most time; the limit of the occupancy is in brackets; "
                             "waves of blocks, and how full the last wave is")
             : std::string();
}

std::string host_waits_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  if (calls.empty()) return {};
  TextTable table("lrrrrrl", heads({column::kHostCall, column::kCalls, column::kTotal, column::kP50, column::kMax,
                                    column::kCpuTime, column::kHow}));
  const std::size_t shown = std::min(most, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HostWaitStats& c = calls[i];
    table.add({one_line(name_at(c.name, c.place)), format_count(c.count), format_duration(c.total_ns),
               format_duration(c.p50_ns), format_duration(c.max_ns), c.cpu_ns ? format_duration(*c.cpu_ns) : "-",
               c.cpu_ns ? std::string(waiting_way_name(c.way())) : "-"});
  }
  return table.str(0, screen.width) + and_more(calls.size(), shown, "call");
}

std::string lateness_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<LateSum>& sums = analysis.lateness.by_site;
  if (sums.empty()) return {};
  TextTable table("wlrrrr", heads({column::kHostCall, column::kLateCause, column::kDelays, column::kLateBy,
                                   column::kLateError, column::kGpuIdle}));
  const std::size_t shown = std::min(most, sums.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LateSum& sum = sums[i];
    const std::string name = sum.site == 0 ? "-" : name_at(model.site_name(sum.site), model.site_place(sum.site));
    table.add({one_line(name), late_cause_words(sum.cause), format_count(sum.count), format_duration(sum.late_ns),
               "+-" + format_duration(sum.error_ns), format_duration(sum.idle_ns)});
  }
  std::string text =
      fmt::format("Why steps were late: {} of host threads\n", count_of(analysis.lateness.steps, "step")) +
      table.str(0, screen.width) + and_more(sums.size(), shown, "cause");
  return text + host_gain_text(analysis, screen);
}

std::string host_gain_text(const Analysis& analysis, const Screen& screen) {
  if (!analysis.host_park_gain) return {};
  return paragraph(screen, "without spinning host threads (wic-prof toggle park --side host): predicted " +
                               gain_text(analysis.host_park_gain) + " times as fast");
}

std::string interventions_text(const TraceModel& model, std::size_t most, const Screen& screen) {
  if (model.interventions.empty()) return {};
  TextTable table("rll", heads({column::kSwitchedAt, column::kHow, column::kEffect}));
  const std::size_t shown = std::min(most, model.interventions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const store::InterventionRow& row = model.interventions[i];
    table.add({format_duration(row.requested - model.begin), intervention_text(model, row),
               format_duration(took_effect_after(row))});
  }
  return table.str(0, screen.width) + and_more(model.interventions.size(), shown, "intervention");
}

namespace {

std::string pairs_text(const Classification& c, const Screen& screen) {
  TextTable table("llrrll", heads({column::kBetween, column::kAnd, column::kForth, column::kBack, column::kModel,
                                   column::kPattern}));
  const std::size_t shown = std::min<std::size_t>(8, c.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const PairAnswer& pair = c.pairs[i];
    table.add({pair.first, pair.second, format_count(pair.forth), format_count(pair.back),
               std::string(model_name(pair.model)), std::string(pattern_name(pair.pattern))});
  }
  return table.str(2, screen.width) + and_more(c.pairs.size(), shown, "pair");
}

}  // namespace

std::string classification_text(const Classification& c, const Screen& screen) {
  const auto sure = [](std::string_view name, double confidence) {
    return confidence > 0 ? fmt::format("{} (confidence {:.2f})", name, confidence) : std::string(name);
  };
  std::string text =
      paragraph(screen,
                fmt::format("Communication: {}; pattern: {}", sure(model_name(c.model), c.model_confidence),
                            sure(pattern_name(c.pattern), c.pattern_confidence)),
                0, 2);
  for (const std::string& line : c.evidence) text += paragraph(screen, "- " + one_line(line), 2, 2);
  if (c.period.count > 0 && c.period.ns > 0) {
    text += paragraph(screen, fmt::format("An iteration is {}: {} of them, {} each (median)", c.period.what,
                                          format_count(c.period.count), format_duration(c.period.ns)));
  }
  if (c.pairs.size() > 1) text += pairs_text(c, screen);
  return text;
}

}  // namespace wicprof::reports
