#include "analyzer/rules/site_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/compare/compare.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer waits in one way say nothing about that way: the interval of a median needs about ten values.
constexpr std::uint64_t kFewestTried = 10;

bool polls_as_the_program(StrategyId strategy) { return strategy == StrategyId::poll || strategy == StrategyId::naive; }

/// The waits at a site in one of the two ways, of the strategy with the most of them.
struct Tried {
  const StrategyStats* polled = nullptr;
  const StrategyStats* parked = nullptr;
};

Tried tried_at(const SiteStats& site) {
  Tried tried;
  for (const StrategyStats& stats : site.strategies) {
    if (stats.count < kFewestTried) continue;
    const StrategyStats*& best = polls_as_the_program(stats.strategy) ? tried.polled : tried.parked;
    if (best == nullptr || stats.count > best->count) best = &stats;
  }
  return tried;
}

/// Whether the site waits already as the advice would have it.
bool follows(const SiteStats& site, const StrategyStats& parked, std::optional<StrategyId> wanted) {
  if (!wanted || *wanted == StrategyId::automatic || *wanted == parked.strategy) return true;
  return site.choice && site.choice->strategy == *wanted;
}

std::string outcome_of(const Tried& tried, const Comparison& change) {
  const std::string waits =
      fmt::format("the median wait took {} polled and {} parked ({})", format_duration(tried.polled->p50_ns),
                  format_duration(tried.parked->p50_ns), strategy_name(tried.parked->strategy));
  const bool known = change.both_modes && change.verdict != Verdict::inconclusive && change.before.iteration_ns_p50 &&
                     change.after.iteration_ns_p50;
  if (!known) return fmt::format("tried in this trace: {}; wic-prof compare judges it", waits);
  return fmt::format("tried in this trace, {}: an iteration takes {} polled and {} parked; {}",
                     verdict_name(change.verdict), format_duration(*change.before.iteration_ns_p50),
                     format_duration(*change.after.iteration_ns_p50), waits);
}

/// What replaces the advice, if anything does.
std::optional<std::string> instead_of(const SiteStats& site, const Finding& finding, bool no_gain,
                                      const Comparison& change) {
  if (no_gain && site.any_share < kTinyShare) {
    return fmt::format("leave this site as it is: somebody waits there during only {} of the time",
                       format_percent(site.any_share));
  }
  const Tried tried = tried_at(site);
  if (tried.polled != nullptr && tried.parked != nullptr) return outcome_of(tried, change);
  const std::optional<StrategyId> wanted = named_strategy(finding.remedy);
  if (tried.parked != nullptr && follows(site, *tried.parked, wanted)) {
    return fmt::format("leave this site as it is: it parks already ({}){}", strategy_name(tried.parked->strategy),
                       site.choice ? ", as auto chose" : "");
  }
  if (no_gain && finding.rule == "late_wake") {
    return "look at what delays the waiters: an SM without free issue slots, a descheduled thread, a clock; polling "
           "costs nothing at this site, so parked waiters would be as late";
  }
  const bool leader_polls = tried.polled != nullptr && site.declared && site.pollers == Pollers::leader;
  if (leader_polls && wanted == StrategyId::leader_bar_sync) {
    return "leave this site as it is: one leader polls for its block already, which is what leader_bar_sync does";
  }
  return std::nullopt;
}

}  // namespace

void settle_site_advice(const RuleInput& input, std::vector<Finding>& findings) {
  std::set<SiteId> no_gain;
  for (const Finding& finding : findings) {
    if (finding.rule == "no_gain") no_gain.insert(finding.site);
  }
  std::map<SiteId, Finding*> chosen;  // per site, the finding whose advice counts
  for (Finding& finding : findings) {
    if (finding.site == 0 || finding.site_name.empty()) continue;
    if (!parks_sites(finding.remedy)) continue;
    const auto site = std::find_if(input.sites.begin(), input.sites.end(),
                                   [&](const SiteStats& stats) { return stats.site == finding.site; });
    if (site == input.sites.end()) continue;
    if (auto settled = instead_of(*site, finding, no_gain.count(finding.site) > 0, input.change)) {
      finding.remedy = *std::move(settled);
      continue;
    }
    Finding*& best = chosen[finding.site];
    // A named strategy answers what was measured at the site; without one, `auto` chooses.
    const auto rank = [](const Finding& f) { return std::pair(named_strategy(f.remedy).has_value(), f.severity); };
    if (best == nullptr || rank(finding) > rank(*best)) best = &finding;
  }
  for (Finding& finding : findings) {
    const auto best = chosen.find(finding.site);
    if (best == chosen.end() || &finding == best->second) continue;
    if (parks_sites(finding.remedy)) finding.remedy = best->second->remedy;
  }
  std::erase_if(findings,
                [&](const Finding& finding) { return finding.rule == "no_gain" && chosen.count(finding.site) > 0; });
}

}  // namespace wicprof::analyzer
