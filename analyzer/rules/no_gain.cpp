// Waits that cost nothing: reports where parking will gain nothing.
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/path/handed_on.h"
#include "analyzer/rules/line_cost.h"
#include "analyzer/rules/measured.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/site_advice.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

constexpr std::string_view kHandedOn =
    ", and the waiters hand the word on to each other, as at a lock: each would have to wake up first, so that "
    "parking may even lose there";

Finding finding_for(const SiteStats& site, std::string why, std::string evidence) {
  Finding finding;
  finding.site = site.site;
  finding.site_name = site.name;
  finding.severity = Severity::info;
  finding.text = fmt::format("parking will gain nothing at {}: {}", one_line(site.name), why);
  finding.evidence = std::move(evidence);
  finding.remedy = "leave this site as it is";
  return finding;
}

std::string layout_words(const SiteStats& site) {
  if (site.words != 1) return "each waiter polls a separate word";
  return fmt::format("at most {} at once on one word in {}", count_of(site.max_waiting, "waiter"),
                     memory_name(site.word_memory));
}

}  // namespace

template <>
RuleOutcome apply<struct NoGain>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.waits.empty()) {
    outcome.refused = missing::kNoKernelWaits;
    return outcome;
  }
  const std::set<SiteId> handed_on = handed_on_sites(input.model, input.sites);
  for (const SiteStats& site : input.sites) {
    if (site.strategies.empty()) continue;  // only host threads wait here; host_spin covers them
    const std::string numbers = fmt::format("{} by {}, {} in all; at least one waiter waits during {} of the time",
                                            count_of(site.count, "wait"), count_of(site.groups, "waiter"),
                                            format_duration(site.total_ns), format_percent(site.any_share));
    if (input.ground_ns() > 0 && site.any_share < kTinyShare) {
      outcome.findings.push_back(finding_for(site, "waiters wait there only during a tiny part of the time", numbers));
      continue;
    }
    if (!site.declared) {
      outcome.refused = fmt::format("the trace does not say which memory holds the word of {}", one_line(site.name));
      continue;
    }
    const LineJudgement judgement = judge_line(site, site.max_waiting);
    if (judgement.cost == LineCost::none && site.pollers == Pollers::leader) {
      std::string why = layout_words(site);
      if (handed_on.contains(site.site)) why += kHandedOn;
      outcome.findings.push_back(finding_for(
          site, std::move(why), numbers + "; " + measured_on_h200_at(input.model, site.site, judgement.measured)));
    }
  }
  return outcome;
}

}  // namespace wicprof::analyzer
