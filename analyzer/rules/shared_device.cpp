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

/// Who has the device by turns.
std::string others_text(const InterruptedKernels& found) {
  if (found.others.empty()) return "a program that is not in this trace, or another context of the process,";
  return fmt::format("process{} {}", found.others.size() == 1 ? "" : "es", fmt::join(found.others, ", "));
}

/// "kernels take 2.5 ms longer per turn, however long they are"
std::string text_of(const InterruptedKernels& found) {
  const std::string turn = format_duration(found.turn_ns);
  if (!found.sure)
    return fmt::format(
        "GPU {} may be another program's by turns: work of process {} begins {} late again and again, with nothing of "
        "its own in front of it",
        found.device, found.process, turn);
  const std::string has =
      fmt::format("{} ha{} GPU {} by turns", others_text(found), found.others.size() > 1 ? "ve" : "s", found.device);
  if (found.kernels == 0) return fmt::format("{}: work of process {} begins {} late", has, found.process, turn);
  return fmt::format("{}: a turn makes kernels of process {} {} longer, however long they are", has, found.process,
                     turn);
}

std::string evidence_of(const InterruptedKernels& found) {
  std::string text;
  if (found.kinds > 0)
    text = fmt::format("{} of {} that take {} to {} without a turn; ", count_of(found.kernels, "run"),
                       count_of(found.kinds, "kernel shape"), format_duration(found.shortest_ns),
                       format_duration(found.longest_ns));
  if (found.late_starts > 0)
    text += fmt::format("{} late with nothing in front of them; ",
                        found.late_starts == 1 ? "1 launch" : format_count(found.late_starts) + " launches");
  return text + fmt::format("at least {} lost in sum", format_duration(found.lost_ns));
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
    finding.severity = share >= kWarning && found.sure ? Severity::warning : Severity::info;
    finding.text = text_of(found);
    finding.evidence = evidence_of(found);
    const store::DeviceRow* const device = input.model.device(found.device);
    finding.command = fmt::format("nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv{}",
                                  device == nullptr || device->uuid.empty() ? "" : " -i " + device->uuid);
    finding.remedy =
        found.sure
            ? "end the other program (outside of containers, nvidia-smi names it; processes of an earlier run may be "
              "left), give each program a GPU or a MIG instance of its own, or let them share by MPS, which needs no "
              "turns"
            : "look for other programs on the GPU (outside of containers, nvidia-smi names them); if there are none, "
              "look for what the streams wait for that the trace does not show: a flag, an event of another process, "
              "work that an imported trace lacks";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
