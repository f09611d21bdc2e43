// A last wave of blocks that leaves the device half empty and delays the next kernel of the stream: a matter of the
// kernel's grid. What an earlier start of that next kernel could gain: dependent_kernels.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"

namespace wicprof::analyzer {
namespace {

/// Least share of the launches with such a successor. Not calibrated.
constexpr double kMostly = 0.5;
/// Time lost in the last wave, as a share of the traced time. cuSync gains up to 1.19 times on programs that lose time
/// only there. A comparison counts 2 % as a change.
constexpr double kWorthNamingWave = 0.02;
/// Kernels of several streams run at once if their times sum up to so much more than the devices' busy time. Not
/// calibrated.
constexpr double kAtOnce = 1.1;

struct Followed {
  std::uint64_t behind = 0;  ///< launches with a ready successor
  std::map<std::string_view, std::uint64_t> by;
};

/// By kernel name, the kernels that directly follow it on its stream.
std::map<std::string_view, Followed> followers(const DependentKernels& kernels) {
  std::map<std::string_view, Followed> all;
  for (const DependentPair& pair : kernels.pairs) {
    const std::uint64_t behind = pair.launches + pair.beside + pair.waiting;
    if (behind == 0) continue;
    Followed& followed = all[pair.producer.name];
    followed.behind += behind;
    followed.by[pair.consumer.name] += behind;
  }
  return all;
}

/// Whether dependent_kernels says what an earlier start of `consumer` behind `producer` could gain.
bool has_finding(const RuleInput& input, std::string_view producer, std::string_view consumer) {
  const auto whole = static_cast<double>(input.model.span());
  const auto& pairs = input.dependent_kernels.pairs;
  return std::any_of(pairs.begin(), pairs.end(), [&](const DependentPair& pair) {
    return pair.producer.name == producer && pair.consumer.name == consumer && pair.worth_naming(whole);
  });
}

bool run_at_once(const RuleInput& input) {
  TimeNs busy = 0, running = 0;
  for (const DeviceBusy& device : input.devices) busy += device.busy_ns;
  for (const KernelStats& kernel : input.kernels) running += kernel.total_ns;
  return static_cast<double>(running) > kAtOnce * static_cast<double>(busy);
}

}  // namespace

template <>
RuleOutcome apply<struct UnderfilledWave>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.kernels.empty()) {
    outcome.refused = "the trace holds no kernels";
    return outcome;
  }
  if (run_at_once(input)) {
    outcome.refused = "kernels of several streams run at once, and what one leaves empty, others may fill";
    return outcome;
  }
  const auto all = followers(input.dependent_kernels);
  bool any_known = false;
  for (const KernelStats& kernel : input.kernels) {
    if (!kernel.waves) continue;
    any_known = true;
    const auto found = all.find(kernel.name);
    if (found == all.end()) continue;
    const Followed& followed = found->second;
    const double whole = std::ceil(kernel.waves->waves);
    if (whole < 1 || kernel.blocks_per_cluster != 0) continue;
    // All waves take about the same time, so the empty part of the last one is lost.
    const double lost = (1 - kernel.waves->last_wave_fill) / whole;
    const double share = lost * kernel.share;
    const bool kept_out = static_cast<double>(followed.behind) >= kMostly * static_cast<double>(kernel.count);
    if (share < kWorthNamingWave || !kept_out) continue;
    const auto next = std::max_element(followed.by.begin(), followed.by.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string name = shorten(function_name(one_line(kernel.name)), 60);
    const std::string behind = shorten(function_name(one_line(next->first)), 60);
    Finding finding;
    finding.cost = Cost{Cost::Unit::time, share};
    finding.severity = share >= kWarning ? Severity::warning : Severity::info;
    const bool one_wave = kernel.waves->waves < 1;
    finding.text =
        fmt::format("{}{} fills {} of the device, and {} cannot start until it is done",
                    one_wave ? "" : "the last wave of ", name, format_percent(kernel.waves->last_wave_fill), behind);
    finding.evidence = fmt::format(
        "{} in {:.2f} waves (computed, not measured); in {} of {} launches the next kernel of the stream follows "
        "directly; this loses at most {} of the traced time",
        count_of(kernel.blocks, "block"), kernel.waves->waves, format_count(followed.behind),
        format_count(kernel.count), format_percent(share));
    const std::string fit =
        format_count(static_cast<std::uint64_t>(static_cast<double>(kernel.blocks) / kernel.waves->waves + 0.5));
    finding.remedy = fmt::format(
        "{}, or let {} start earlier{}",
        one_wave
            ? fmt::format("give the kernel more blocks ({} fit at once), or run others beside it in other streams", fit)
            : fmt::format("make the number of blocks a multiple of {}", fit),
        behind, has_finding(input, kernel.name, next->first) ? " (see dependent_kernels)" : "");
    outcome.findings.push_back(std::move(finding));
  }
  if (!any_known) outcome.refused = "the trace lacks the devices' limits, which determine how many blocks fit";
  return outcome;
}

}  // namespace wicprof::analyzer
