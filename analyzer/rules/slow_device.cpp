// A rank of a job that the others wait for since its device takes longer for the kernels that all ranks run.
#include <fmt/format.h>

#include "analyzer/rules/slower_rank.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct SlowDevice>(const RuleInput& input) {
  RuleOutcome outcome;
  std::optional<Finding> found = slower_rank(input, RankCause::slow_device, "the device of", "kernels");
  if (!found) return outcome;
  const std::string uuid = late_device_uuid(input);
  found->command =
      fmt::format("nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE,PIDS{}", uuid.empty() ? "" : " -i " + uuid);
  found->remedy =
      "compare the device's clocks, temperature, reasons for throttling and other programs with those of the other "
      "devices while the job runs; then give two ranks each other's device: what stays with the rank is its data's, "
      "not the device's";
  outcome.findings.push_back(*std::move(found));
  return outcome;
}

}  // namespace wicprof::analyzer
