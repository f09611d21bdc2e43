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
  switch (judgement.reason) {
    case LoopReason::too_long:
      return "too long for a wait loop";
    case LoopReason::repeats_update:
      return "repeats an atomic update with the value that it read";
    case LoopReason::waits_at_mbarrier:
      return "waits at an mbarrier";
    case LoopReason::chases_pointers:
      return "each load's value is the next load's address";
    case LoopReason::changes_word:
      return "its atomic changes the word in each round";
    case LoopReason::walks_memory:
      return "its loads walk through memory";
    case LoopReason::no_deciding_load:
      return "no load decides when it ends";
    case LoopReason::calls:
      return "it calls a function";
    case LoopReason::compares_progress:
      return "it counts or walks to a bound in memory";
    case LoopReason::computes:
      return "it computes";
    case LoopReason::stores:
      return "it stores";
    case LoopReason::follows_pointers:
      return "its loads follow pointers";
    case LoopReason::computes_integers:
      return "it computes with integers";
    case LoopReason::takes_lock:
      return fmt::format("{} tries to take one word until it succeeds", judgement.operation);
    case LoopReason::polls_by_atomic:
      return fmt::format("{} on one word until the word has the expected value", judgement.operation);
    case LoopReason::polls:
      return fmt::format("{} of one word, whose value decides when the loop ends; no stores", judgement.operation);
    case LoopReason::arrives_and_polls:
      return fmt::format(
          "{} of one word, whose value decides when the loop ends; no stores; an atomic on that word precedes the loop",
          judgement.operation);
  }
  return {};
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

std::string listing_line(const SassInstruction& instruction) {
  return fmt::format("{:04x}  {}", instruction.offset, one_line(with_target(instruction)));
}

}  // namespace wicprof::analyzer
