// Many waiters on words in host memory that hot_word misses, because no site declares many waiters on one word.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/line_cost.h"
#include "analyzer/rules/measured.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

bool polls_host_memory(const SiteStats& site) {
  return site.declared && (site.word_memory == WordMemory::pinned_host || site.word_memory == WordMemory::managed);
}

Finding finding_for(const TraceModel& model, const SiteStats& site, std::string text, std::string evidence,
                    std::uint32_t waiters) {
  Finding finding;
  finding.site = site.site;
  finding.site_name = site.name;
  finding.cost = Cost{Cost::Unit::time, site.any_share};
  finding.severity = waiters >= kHostWordWaitersCritical ? Severity::critical : Severity::warning;
  finding.text = std::move(text);
  finding.evidence = std::move(evidence);
  finding.remedy = park_command(model, site.name, StrategyId::shared_watch);
  return finding;
}

/// A site that declares one word per waiter, while many waiters of one device wait on the same word.
void check_words(const TraceModel& model, const SiteStats& site, RuleOutcome& outcome) {
  if (site.words == 1 || site.max_polling == 0 || site.waiters_per_word.value_or(0) < kHostWordWaiters) return;
  const std::uint32_t waiters = std::min(*site.waiters_per_word, site.max_polling);
  if (waiters < kHostWordWaiters) return;
  outcome.findings.push_back(finding_for(
      model, site,
      fmt::format("{} declares one word per waiter in {}, but up to {} poll the same word at once", one_line(site.name),
                  memory_name(site.word_memory), count_of(waiters, "waiter")),
      fmt::format("{} for {}; {}", count_of(site.words_seen.value_or(0), "distinct word"),
                  count_of(site.groups, "waiter"),
                  measured_on_h200_at(model, site.site,
                                      "132 waiters that poll one word in pinned host memory slow concurrent memory "
                                      "streaming 49 times, waiters with one cache line each do not")),
      waiters));
}

/// Sites with few waiters each, but many together: their words may share a cache line, and all polls cross the same
/// bus.
void check_sum(const TraceModel& model, const std::vector<const SiteStats*>& sites, RuleOutcome& outcome) {
  std::uint32_t together = 0;
  std::string names;
  for (const SiteStats* site : sites) {
    together += site->max_polling;
    names += (names.empty() ? "" : ", ") + fmt::format("{} ({})", one_line(site->name), site->max_polling);
  }
  if (sites.size() < 2 || together < kHostWordWaiters) return;
  Finding finding = finding_for(
      model, *sites.front(),
      fmt::format("{} sites poll words in host memory, each with few waiters, but with up to {} together", sites.size(),
                  format_count(together)),
      fmt::format("waiters at once: {}; they slow each other if their words share a line of 128 bytes, which the trace "
                  "does not show",
                  names),
      0);
  finding.severity = Severity::info;
  finding.remedy += "; park the other sites too, or give each word a separate line (alignas(128))";
  outcome.findings.push_back(std::move(finding));
}

}  // namespace

template <>
RuleOutcome apply<struct SharedHostLine>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.waits.empty()) {
    outcome.refused = missing::kNoKernelWaits;
    return outcome;
  }
  std::vector<const SiteStats*> few;
  bool words_unknown = false;
  for (const SiteStats& site : input.sites) {
    if (!polls_host_memory(site) || site.strategies.empty()) continue;
    if (site.words != 1 && !site.words_seen) words_unknown = true;
    check_words(input.model, site, outcome);
    if (site.words == 1 && site.max_polling > 0 && site.max_polling < kHostWordWaiters) few.push_back(&site);
  }
  check_sum(input.model, few, outcome);
  if (words_unknown && outcome.findings.empty()) {
    outcome.refused = "the waits do not say which word in host memory each one polls";
  }
  return outcome;
}

}  // namespace wicprof::analyzer
