// Polling by atomic operations: each poll is an update, which needs ownership of the cache line.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/measured.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Measured on an H200 (docs/results: interference, many_device_one_*): 2,096 waiters that poll one word by atomics
/// slow memory streaming 1.39 times, by loads 1.03 times; 132 of them (few_*) 1.03 and 1.00.
constexpr std::uint32_t kMany = 1'000;
constexpr char kMeasuredAtomics[] =
    "2,096 waiters that poll one word by atomics slow concurrent memory streaming 1.39 times, by "
    "loads 1.03 times";

void check_sites(const RuleInput& input, RuleOutcome& outcome) {
  for (const SiteStats& site : input.sites) {
    const auto naive = std::find_if(site.strategies.begin(), site.strategies.end(),
                                    [](const StrategyStats& s) { return s.strategy == StrategyId::naive; });
    if (naive == site.strategies.end()) continue;
    Finding finding;
    finding.site = site.site;
    finding.site_name = site.name;
    finding.cost = Cost{Cost::Unit::time, site.any_share};
    finding.severity = site.max_waiting >= kMany ? Severity::warning : Severity::info;
    finding.text =
        fmt::format("{} at {} polled by atomics (strategy naive), with up to {} at once",
                    count_of(naive->count, "wait"), one_line(site.name), count_of(site.max_waiting, "waiter"));
    finding.evidence =
        fmt::format("{} polls, {} per wait; {}", format_count(naive->polls), format_number(naive->polls_per_wait),
                    measured_on_h200_at(input.model, site.site, kMeasuredAtomics));
    finding.remedy = park_command(input.model, site.name, StrategyId::automatic);
    outcome.findings.push_back(std::move(finding));
  }
}

void check_loops(const RuleInput& input, RuleOutcome& outcome) {
  for (const PollingLoop& loop : input.polling_loops) {
    if (loop.kind != LoopKind::atomic_poll || !loop.from_instructions || loop.share < kWorthNaming) continue;
    Finding finding;
    finding.cost = Cost{Cost::Unit::time, loop.share};
    finding.severity = loop.share >= kWarning ? Severity::warning : Severity::info;
    finding.text =
        fmt::format("{} polls by an atomic operation at {}: each poll updates the line that the producer writes",
                    shorten(function_name(one_line(loop.function)), 80), place_of(loop));
    finding.evidence = fmt::format("{} of the samples of {}; {}", format_percent(loop.share),
                                   one_line(input.model.device_name(loop.device)),
                                   measured_on_h200(input.model, loop.device, kMeasuredAtomics));
    finding.remedy =
        "poll with a load: cuda::atomic_ref::load(cuda::memory_order_acquire), or wic::wait_until (wic-prof explain "
        "wait_until), so that wic-prof toggle park can park the site";
    outcome.findings.push_back(std::move(finding));
  }
}

}  // namespace

template <>
RuleOutcome apply<struct AtomicPolls>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.waits.empty() && input.model.sass.empty()) {
    outcome.refused =
        "the trace holds neither waits inside kernels nor instructions of sampled functions (record them with wic-prof "
        "run --trace=cuda,pcsampling)";
    return outcome;
  }
  check_sites(input, outcome);
  check_loops(input, outcome);
  return outcome;
}

}  // namespace wicprof::analyzer
