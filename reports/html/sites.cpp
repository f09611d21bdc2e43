// The wait sites: who waits where, how long, and with which strategy.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {

namespace {

std::string counted_part(const Analysis& analysis) {
  if (analysis.counted_waits.empty()) return {};
  return table_html(counted_waits_table(analysis, kMaxListedSites)) + remark(counted_legend(analysis) + ".");
}

}  // namespace

std::string sites_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.sites.empty()) {
    return section("sites", "Wait sites",
                   fmt::format("<p>None: {}.</p>\n", text_of(why_no_sites(model, analysis))) + counted_part(analysis));
  }
  std::string choices, edges;
  for (std::size_t i = 0; i < std::min(kMaxListedSites, analysis.sites.size()); ++i) {
    const SiteStats& site = analysis.sites[i];
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
      table_html(sites_table(analysis, kMaxListedSites)) + counted_part(analysis) + choices +
          remark(share_legend() + ". Wake: from the signal, or from the arrival if that came later, until the waiter "
                                  "resumed. Gain: the predicted change of the run's time "
                                  "if this site parks."),
      analyze_command(model));
}

}  // namespace wicprof::reports::html
