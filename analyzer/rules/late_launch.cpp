// Launches whose work begins late although nothing is in front of it.
#include <fmt/format.h>

#include "analyzer/rules/late_gain.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct LateLaunch>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.lateness.steps == 0) {
    outcome.refused = "the trace does not show enough steps in which a thread launches work and waits for it";
    return outcome;
  }
  const LateSum* const sum = late_enough(input, LateCause::launch);
  if (sum == nullptr) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.text = fmt::format("work begins late after its launch although nothing is in front of it: {} in {}",
                             format_duration(sum->late_ns), count_of(input.lateness.steps, "step"));
  finding.evidence = late_evidence(input, *sum);
  finding.remedy =
      "look for what the launch waits for (other threads in calls of CUDA, code that is loaded, memory that is "
      "allocated or freed, another process on the GPU), or launch several steps ahead, or as a CUDA graph";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
