// The wait sites: who waits where, how long, and with which strategy.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports::html {
namespace {

void add_site(const SiteStats& site, const WakeStats& wake, const SitePrediction* prediction, Table& table) {
  const std::string_view memory = site.declared ? memory_name(site.word_memory) : "memory of its word not recorded";
  const std::string words = site.words_seen ? "; " + words_text(site) : "";
  const auto gain = prediction != nullptr && prediction->gain ? std::optional(prediction->gain->value) : std::nullopt;
  table.add({name_of(site.name) + fmt::format("<br><span class=\"faint small\">{}{}</span>", memory, words),
             site.strategies.size() > 1 ? "mixed" : strategy_mix(site), count(site.count), count(site.groups),
             duration(site.total_ns), percent(site.share), percent(site.any_share), duration(site.p50_ns),
             duration(site.p99_ns), number(site.polls_per_wait), wake.matched > 0 ? duration(wake.p50_ns) : Cell("-"),
             number(gain)},
            fmt::format("site-{}", site.site));
  if (site.strategies.size() < 2) return;
  for (const StrategyStats& stats : site.strategies) {
    table.add_part({"", std::string(strategy_name(stats.strategy)), count(stats.count), "", duration(stats.total_ns),
                    "", "", duration(stats.p50_ns), duration(stats.p99_ns), number(stats.polls_per_wait), "", ""});
  }
}

}  // namespace

std::string sites_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.sites.empty()) {
    return section("sites", "Wait sites", fmt::format("<p>None: {}.</p>\n", text_of(why_no_sites(model, analysis))));
  }
  Table table({"site", "strategy", ">count", ">waiters", ">total", ">share", ">any", ">p50", ">p99", ">polls per wait",
               ">wake p50", ">gain"});
  const std::size_t shown = std::min(kMaxListedSites, analysis.sites.size());
  std::string choices, edges;
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    add_site(site, analysis.wakes[i], i < analysis.prediction.sites.size() ? &analysis.prediction.sites[i] : nullptr,
             table);
    for (const std::string& each : {released_text(analysis, site.site), open_text(analysis, site.site)}) {
      if (!each.empty()) edges += fmt::format("<li>{} {}</li>\n", name_of(site.name), text_of(each));
    }
    if (site.choice) choices += fmt::format("<li>{} {}</li>\n", name_of(site.name), text_of(choice_text(site)));
  }
  if (!choices.empty())
    choices = fmt::format("<p>Choices of <code>auto</code>:</p>\n<ul class=\"small\">\n{}</ul>\n", choices);
  if (!edges.empty())
    choices += fmt::format("<p>Writers of the words of patched loops:</p>\n<ul class=\"small\">\n{}</ul>\n", edges);
  return section(
      "sites", "Wait sites",
      table.str() + and_more(analysis.sites.size(), shown, "wait site") + choices +
          remark(share_legend() + ". Wake: from the signal, or from the arrival if that came later, until the waiter "
                                  "resumed. Gain: the predicted speed-up of the program "
                                  "if this site parks."),
      analyze_command(model));
}

}  // namespace wicprof::reports::html
