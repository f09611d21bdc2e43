// Many waiters that poll one word at once: concurrent work pays for their polling.
#include <fmt/format.h>

#include "analyzer/rules/line_cost.h"
#include "analyzer/rules/measured.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

std::string who_polls(const SiteStats& site) {
  if (site.pollers == Pollers::each_thread) return "all threads of up to " + count_of(site.max_polling, "warp");
  return "up to " + count_of(site.max_polling, "waiter");
}

/// Polls per wait, over the waits that polled.
double polls_per_polling_wait(const SiteStats& site) {
  double polls = 0, waits = 0;
  for (const StrategyStats& stats : site.strategies) {
    if (!every_waiter_polls(stats.strategy)) continue;
    polls += static_cast<double>(stats.polls);
    waits += static_cast<double>(stats.count);
  }
  return waits > 0 ? polls / waits : 0;
}

Finding finding_for(const TraceModel& model, const SiteStats& site, const LineJudgement& judgement) {
  Finding finding;
  finding.site = site.site;
  finding.site_name = site.name;
  finding.cost = Cost{Cost::Unit::time, site.any_share};
  finding.severity = judgement.cost == LineCost::severe ? Severity::critical : Severity::warning;
  finding.text = fmt::format("{} poll one word in {} at {} at once; {} slows the work beside them", who_polls(site),
                             memory_name(site.word_memory), one_line(site.name),
                             waits_on_cpu_device(model, site.site) ? "on a GPU, this" : "this");
  finding.evidence =
      fmt::format("{}; {} polls per polling wait, {} polls in all; each waiter waits here {} of the time; {}",
                  count_of(site.count, "wait"), format_number(polls_per_polling_wait(site)), format_count(site.polls),
                  format_percent(site.share), measured_on_h200_at(model, site.site, judgement.measured));
  finding.remedy = park_command(model, site.name);
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct HotWord>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.waits.empty()) {
    outcome.refused = missing::kNoKernelWaits;
    return outcome;
  }
  for (const SiteStats& site : input.sites) {
    if (!site.declared) {
      outcome.refused = fmt::format("the trace does not say which memory holds the word of {}", one_line(site.name));
      continue;
    }
    const LineJudgement judgement = judge_line(site, site.max_polling);
    if (judgement.cost != LineCost::none) outcome.findings.push_back(finding_for(input.model, site, judgement));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
