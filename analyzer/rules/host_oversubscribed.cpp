// Other threads on the program's CPUs, at the times when the program should launch or go on after a wait.
#include <fmt/format.h>

#include "analyzer/rules/late_gain.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct HostOversubscribed>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.lateness.steps == 0) {
    outcome.refused = "the trace does not show enough steps in which a thread launches work and waits for it";
    return outcome;
  }
  const LateSum* const sum = late_enough(input, LateCause::oversubscribed);
  if (sum == nullptr) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.text = fmt::format("host threads launched or went on late since other threads had their CPUs: {} in {}",
                             format_duration(sum->late_ns), count_of(input.lateness.steps, "step"));
  finding.evidence = late_evidence(input, *sum);
  if (const TimeNs cpu = spun_in_calls(input.model); cpu > 0) {
    finding.evidence += fmt::format("; host threads spun for {} while they waited", format_duration(cpu));
    finding.remedy = "wic-prof toggle park --side host";
  } else {
    finding.remedy =
        "run fewer threads than the machine has CPUs, or bind the program's threads to CPUs of their own "
        "(taskset, numactl)";
  }
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
