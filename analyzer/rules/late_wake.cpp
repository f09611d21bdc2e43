// Waiters that resume long after they were released.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/measured.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Above every latency of a suitable strategy, measured on an H200 (docs/results: wake_latency): 0.8 to 4.4 us at the
/// median and up to 10 us at the 99th percentile, against 366 us and more where many poll one word in host memory.
constexpr TimeNs kLate = 20'000;
/// Below a tenth of the median wait the wake-up latency hardly adds to the wait. Not calibrated.
constexpr double kLeastOfWait = 0.1;
constexpr char kMeasuredWakes[] =
    "1 to 4 us under leader_bar_sync and shared_watch, 9 us under backoff, 366 us and more where "
    "many poll one word in host memory";

/// The strategy that wakes soonest at such a site.
StrategyId quickest_strategy(const SiteStats& site) {
  const bool far = site.word_memory != WordMemory::device;
  return far && site.words == 1 ? StrategyId::shared_watch : StrategyId::leader_bar_sync;
}

}  // namespace

template <>
RuleOutcome apply<struct LateWake>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.sites.empty()) {
    outcome.refused = "the trace holds no waits at wait sites";
    return outcome;
  }
  bool matched = false, timed = false;
  for (std::size_t i = 0; i < input.sites.size(); ++i) {
    const SiteStats& site = input.sites[i];
    const WakeStats& wake = input.wakes[i];
    if (wake.matched == 0) continue;
    matched = true;
    if (!wake.error_ns) continue;
    timed = true;
    // The part of the latency that the clocks' error cannot explain.
    const TimeNs certain = wake.p50_ns - *wake.error_ns;
    const bool late =
        certain >= kLate && static_cast<double>(certain) >= kLeastOfWait * static_cast<double>(site.p50_ns);
    if (!late || site.strategies.empty()) continue;
    Finding finding;
    finding.site = site.site;
    finding.site_name = site.name;
    // Each waiter is late by itself.
    finding.cost = input.time_cost(certain * static_cast<TimeNs>(wake.matched) /
                                   static_cast<TimeNs>(std::max<std::size_t>(1, site.groups)));
    finding.severity = Severity::warning;
    finding.text = fmt::format("waiters at {} resume {} after they were released (median)", one_line(site.name),
                               format_duration(wake.p50_ns));
    finding.evidence = fmt::format(
        "p99 {}; {} matched with their signals; clocks agree within {}; the median wait takes {}, mostly under {}; {}",
        format_duration(wake.p99_ns), count_of(wake.matched, "wait"), format_duration(*wake.error_ns),
        format_duration(site.p50_ns), strategy_name(*site.main_strategy()),
        measured_on_h200_at(input.model, site.site, kMeasuredWakes));
    finding.remedy = park_command(input.model, site.name, quickest_strategy(site));
    outcome.findings.push_back(std::move(finding));
  }
  if (!matched) {
    outcome.refused = "no wait could be matched with the signal that released it";
  } else if (!timed) {
    outcome.refused = "the trace does not say how closely the clocks of signallers and waiters agree";
  }
  return outcome;
}

}  // namespace wicprof::analyzer
