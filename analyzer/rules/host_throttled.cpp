// A CPU quota that stopped the program's threads.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/rules/late_gain.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

std::optional<std::int64_t> stat(const TraceModel& model, std::string_view name) {
  for (const store::StatRow& row : model.stats) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
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
  // The system counts the time once per CPU.
  if (*throttled <= 0 || static_cast<double>(*throttled) < kWorthNaming * traced) return outcome;
  Finding finding;
  const LateSum* const late = late_enough(input, LateCause::throttled);
  finding.cost = late != nullptr ? input.time_cost(late->at_once_ns)
                                 : Cost{Cost::Unit::time, std::min(1.0, static_cast<double>(*throttled) / traced)};
  finding.severity = Severity::warning;
  finding.text = fmt::format("a CPU quota stopped the program's threads for {}, summed over the CPUs",
                             format_duration(*throttled));
  finding.evidence = fmt::format("in {} of the quota (cpu.stat: nr_throttled, throttled_usec)",
                                 count_of(static_cast<std::uint64_t>(std::max<std::int64_t>(
                                              0, stat(input.model, "throttled_periods").value_or(0))),
                                          "period"));
  if (late != nullptr) {
    finding.evidence += fmt::format("; launches and waits were late by {}: {}", format_duration(late->late_ns),
                                    late_evidence(input, *late));
  }
  if (const TimeNs cpu = spun_in_calls(input.model); cpu > 0) {
    finding.evidence +=
        fmt::format("; host threads spun for {} while they waited for the GPU, which counts", format_duration(cpu));
    finding.remedy = host_park_command(input.model);
  } else {
    finding.remedy = "raise the quota (cpu.max, docker --cpus, the pod's CPU limit), or run fewer threads";
  }
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
