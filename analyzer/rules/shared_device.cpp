// Kernels that take longer since another program, or another context of the program, has the device by turns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// "another program", or the processes of the trace that share the device.
std::string others_text(const InterruptedKernels& found) {
  if (found.others.empty()) return "a program that is not in this trace, or another context of the process,";
  return fmt::format("process{} {}", found.others.size() == 1 ? "" : "es", fmt::join(found.others, ", "));
}

}  // namespace

template <>
RuleOutcome apply<struct SharedDevice>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.kernels.empty()) {
    outcome.refused = "the trace holds no kernels";
    return outcome;
  }
  for (const InterruptedKernels& found : input.interrupted_kernels) {
    const double share =
        std::min(1.0, static_cast<double>(found.lost_ns) / static_cast<double>(std::max<TimeNs>(1, input.ground_ns())));
    if (share < kWorthNaming) continue;
    Finding finding;
    finding.cost = Cost{Cost::Unit::time, share};
    finding.severity = share >= kWarning ? Severity::warning : Severity::info;
    finding.text =
        fmt::format("{} has GPU {} by turns: kernels of process {} take {} longer per turn, however long they are",
                    others_text(found), found.device, found.process, format_duration(found.turn_ns));
    finding.evidence = fmt::format("{} of {} that take {} to {} without a turn; at least {} lost in sum",
                                   count_of(found.kernels, "run"), count_of(found.kinds, "kernel shape"),
                                   format_duration(found.shortest_ns), format_duration(found.longest_ns),
                                   format_duration(found.lost_ns));
    const store::DeviceRow* const device = input.model.device(found.device);
    finding.command = fmt::format("nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv{}",
                                  device == nullptr || device->uuid.empty() ? "" : " -i " + device->uuid);
    finding.remedy =
        "end the other program (outside of containers, nvidia-smi names it; processes of an earlier run may be left), "
        "give each program a GPU or a MIG instance of its own, or let them share by MPS, which needs no turns";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
