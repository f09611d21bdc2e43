// Other threads on the program's CPUs, at the times when the program should launch or go on after a wait.
#include <fmt/format.h>

#include "analyzer/rules/late_gain.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct HostOversubscribed>(const RuleInput& input) {
  return late_outcome(
      input, LateCause::oversubscribed, "host threads launched or went on late since other threads had their CPUs",
      [&](Finding& finding) {
        if (const TimeNs cpu = spun_in_calls(input.model); cpu > 0) {
          finding.evidence += fmt::format("; host threads spun for {} while they waited", format_duration(cpu));
          finding.remedy = host_park_command(input.model);
        } else {
          finding.remedy =
              "run fewer threads than the machine has CPUs, or bind the program's threads to CPUs of their own "
              "(taskset, numactl)";
        }
      });
}

}  // namespace wicprof::analyzer
