// A CPU quota that stopped the program's threads.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Least share of the traced time. The time counts once per CPU. Not calibrated.
constexpr double kWorthNaming = 0.01;
/// Share of CPU time in the waits in calls from which on they spin, as for the finding host_spin.
constexpr double kSpinning = 0.8;

std::optional<std::int64_t> stat(const TraceModel& model, std::string_view name) {
  for (const store::StatRow& row : model.stats) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

/// The CPU time of spinning waits in calls that a toggle can switch.
TimeNs spun(const TraceModel& model) {
  TimeNs cpu = 0, wall = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.cpu || wait.site == 0 || !wait.in_call()) continue;
    cpu += *wait.cpu;
    wall += std::max<TimeNs>(0, wait.end - wait.begin);
  }
  return static_cast<double>(cpu) >= kSpinning * static_cast<double>(wall) ? cpu : 0;
}

}  // namespace

template <>
RuleOutcome apply<struct HostThrottled>(const RuleInput& input) {
  RuleOutcome outcome;
  const std::optional<std::int64_t> throttled = stat(input.model, "throttled_ns");
  if (!throttled) {
    outcome.refused = "the trace does not say whether a CPU quota stopped the program";
    return outcome;
  }
  const auto traced = static_cast<double>(input.model.end - input.model.begin);
  if (*throttled <= 0 || static_cast<double>(*throttled) < kWorthNaming * traced) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.text = fmt::format("a CPU quota stopped the program's threads for {}, summed over the CPUs",
                             format_duration(*throttled));
  finding.evidence = fmt::format("in {} of the quota (cpu.stat: nr_throttled, throttled_usec)",
                                 count_of(static_cast<std::uint64_t>(std::max<std::int64_t>(
                                              0, stat(input.model, "throttled_periods").value_or(0))),
                                          "period"));
  if (const TimeNs cpu = spun(input.model); cpu > 0) {
    finding.evidence +=
        fmt::format("; host threads spun for {} while they waited for the GPU, which counts", format_duration(cpu));
    finding.remedy = "wic-prof toggle park --side host";
  } else {
    finding.remedy = "raise the quota (cpu.max, docker --cpus, the pod's CPU limit), or run fewer threads";
  }
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
