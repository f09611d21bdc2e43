// Many waiters on words in host memory that hot_word does not see, since no single site has many on its one word.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/rules/line_cost.h"
#include "analyzer/rules/list.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

bool on_the_host(const SiteStats& site) {
  return site.declared && (site.word_memory == WordMemory::pinned_host || site.word_memory == WordMemory::managed);
}

Finding finding_for(const SiteStats& site, std::string text, std::string evidence, std::uint32_t waiters) {
  Finding finding;
  finding.site = site.site;
  finding.site_name = site.name;
  finding.severity = waiters >= kHostWordWaitersCritical ? Severity::critical : Severity::warning;
  finding.text = std::move(text);
  finding.evidence = std::move(evidence);
  finding.remedy = park_command(site.name, StrategyId::shared_watch);
  return finding;
}

/// A site that declares a word for each waiter, while many of one device wait on the same.
void look_at_words(const SiteStats& site, RuleOutcome& outcome) {
  if (site.words == 1 || site.max_polling == 0 || site.waiters_a_word.value_or(0) < kHostWordWaiters) return;
  const std::uint32_t waiters = std::min(*site.waiters_a_word, site.max_polling);
  if (waiters < kHostWordWaiters) return;
  outcome.findings.push_back(finding_for(
      site,
      fmt::format("{} declares a word for each waiter in {}, but up to {} at once poll the same one",
                  one_line(site.name), memory_name(site.word_memory), count_of(waiters, "waiter")),
      fmt::format(
          "{} distinct words under {}; measured on an H200: 132 waiters that poll one word in pinned host memory "
          "slow memory streaming beside them 49 times, waiters on lines of their own do not (docs/results: "
          "interference)",
          format_count(site.words_seen.value_or(0)), count_of(site.groups, "waiter")),
      waiters));
}

/// Sites of which each has few waiters on its word, and all together many: their words may well share a line, and they
/// share the way to it.
void look_at_sum(const std::vector<const SiteStats*>& sites, RuleOutcome& outcome) {
  std::uint32_t together = 0;
  std::string names;
  for (const SiteStats* site : sites) {
    together += site->max_polling;
    names += (names.empty() ? "" : ", ") + fmt::format("{} ({})", one_line(site->name), site->max_polling);
  }
  if (sites.size() < 2 || together < kHostWordWaiters) return;
  Finding finding = finding_for(
      *sites.front(),
      fmt::format("{} sites poll words in host memory, each with few waiters, together with up to {}", sites.size(),
                  format_count(together)),
      fmt::format(
          "waiters at once: {}; it matters where their words lie on one line of 128 bytes, which the trace does "
          "not tell",
          names),
      0);
  finding.severity = Severity::info;
  finding.remedy += "; and likewise the others, or give each word a line of its own (alignas(128), docs/waiting.md)";
  outcome.findings.push_back(std::move(finding));
}

}  // namespace

RuleOutcome shared_host_line(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.waits.empty()) {
    outcome.refused = "the trace holds no waits inside kernels";
    return outcome;
  }
  std::vector<const SiteStats*> few;
  bool words_unknown = false;
  for (const SiteStats& site : input.sites) {
    if (!on_the_host(site) || site.strategies.empty()) continue;
    if (site.words != 1 && !site.words_seen) words_unknown = true;
    look_at_words(site, outcome);
    if (site.words == 1 && site.max_polling > 0 && site.max_polling < kHostWordWaiters) few.push_back(&site);
  }
  look_at_sum(few, outcome);
  if (words_unknown && outcome.findings.empty())
    outcome.refused = "the waits do not tell the words in host memory apart";
  return outcome;
}

}  // namespace wicprof::analyzer
