#include "analyzer/machine_code/loop_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Evidence names at most this many stall reasons, and none below this share except the first.
constexpr std::size_t kMaxNamedReasons = 3;
constexpr double kMinNamedShare = 0.01;

std::string main_reasons(const std::vector<StallShare>& reasons) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxNamedReasons, reasons.size()); ++i) {
    if (i > 0 && share_of(reasons, reasons[i].reason) < kMinNamedShare) break;
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", one_line(reasons[i].reason),
                        format_percent(share_of(reasons, reasons[i].reason)));
  }
  return text;
}

std::string samples_text(const PollingLoop& loop, std::uint64_t function_samples) {
  return fmt::format("{} of {} in this function, {} of the device's; their stall reasons: {}",
                     count_of(loop.samples, "sample"), format_count(function_samples), format_percent(loop.share),
                     main_reasons(loop.reasons));
}

// Shows the offset of a branch's target, since nothing else in the listing shows the label.
std::string with_target(const SassInstruction& instruction) {
  const std::size_t label = instruction.text.find("`(");
  const std::size_t end = instruction.text.find(')', label);
  if (!instruction.target || label == std::string::npos || end == std::string::npos) return instruction.text;
  return instruction.text.substr(0, label) + fmt::format("{:#06x}", *instruction.target) +
         instruction.text.substr(end + 1);
}

}  // namespace

std::string reason_text(const LoopJudgement& judgement) {
  if (judgement.kind == LoopKind::try_wait) return text_of(judgement.reason) + " (" + judgement.operation + ")";
  return text_of(judgement.reason, judgement.reason == reasons::calls ? "a function" : judgement.operation);
}

std::vector<std::string> evidence_text(const PollingLoop& loop, std::uint64_t function_samples,
                                       const LoopJudgement& judgement, std::size_t instructions) {
  std::vector<std::string> evidence{
      fmt::format("a loop of {}: {}", count_of(instructions, "instruction"), one_line(reason_text(judgement))),
      samples_text(loop, function_samples)};
  if (loop.copies > 1) {
    evidence.push_back(fmt::format("{} loops of this shape in the function count together", loop.copies));
  }
  if (judgement.sleeps) evidence.push_back("it sleeps between two polls (NANOSLEEP)");
  if (judgement.scans) evidence.push_back("it polls several words in turn");
  if (judgement.writes) evidence.push_back("it writes the same word in its rounds, as a sign of life");
  if (judgement.deadline) evidence.push_back("it reads a clock and ends at a deadline");
  if (loop.behind > 0) {
    evidence.push_back(fmt::format("{} more at the barrier after the loop ({} of the device's)",
                                   count_of(loop.behind, "sample"), format_percent(loop.behind_share)));
  }
  if (!judgement.strong) evidence.push_back("the load is an ordinary one, so waiting is likely but not certain");
  return evidence;
}

std::vector<std::string> evidence_text(const PollingLoop& loop, std::uint64_t function_samples) {
  return {
      "found from samples alone, without the loop's instructions: a loop that streams through memory or follows "
      "pointers may look the same",
      samples_text(loop, function_samples)};
}

std::string role_text(const MbarrierWait& wait) {
  if (wait.role == PipelineRole::unknown) return {};
  return fmt::format("{} follows before any other wait at an mbarrier: the waiting warps {}", one_line(wait.behind),
                     wait.role == PipelineRole::producer ? "produce" : "consume");
}

std::string listing_line(const SassInstruction& instruction) {
  return fmt::format("{:04x}  {}", instruction.offset, one_line(with_target(instruction)));
}

}  // namespace wicprof::analyzer
