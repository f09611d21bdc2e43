// CPU time that the machine's host took away when the program should launch or go on after a wait.
#include <fmt/format.h>

#include "analyzer/rules/late_gain.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct HostStolen>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.lateness.steps == 0) {
    outcome.refused = "the trace does not show enough steps in which a thread launches work and waits for it";
    return outcome;
  }
  const LateSum* const sum = late_enough(input, LateCause::stolen);
  if (sum == nullptr) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.text = fmt::format(
      "host threads launched or went on late, probably since the machine's host had taken their CPUs: {} in {}",
      format_duration(sum->late_ns), count_of(input.lateness.steps, "step"));
  finding.evidence = late_evidence(input, *sum) + "; steal_ns is as long, but does not say when";
  finding.remedy = "run on a machine whose CPUs no other machine shares (dedicated cores), or with fewer CPUs in use";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
