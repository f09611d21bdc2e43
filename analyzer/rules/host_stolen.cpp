// CPU time that the machine's host took away when the program should launch or go on after a wait.
#include "analyzer/rules/late_gain.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct HostStolen>(const RuleInput& input) {
  return late_outcome(
      input, LateCause::stolen,
      "host threads launched or went on late, perhaps since the machine's host had taken their CPUs",
      [](Finding& finding) {
        finding.evidence += "; steal_ns is as long, but does not say when";
        finding.remedy =
            "run on a machine whose CPUs no other machine shares (dedicated cores), or with fewer CPUs in use";
      });
}

}  // namespace wicprof::analyzer
