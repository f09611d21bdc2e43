// Sentences about loops, for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/machine_code/loop_kind.h"
#include "analyzer/machine_code/polling_loops.h"

namespace wicprof::analyzer {

/// Why judge_loop() chose the loop's kind, in one line.
std::string reason_text(const LoopJudgement& judgement);

/// The evidence for a polling loop that was found in instructions. `function_samples`: all samples of its function;
/// `instructions`: the loop's length.
std::vector<std::string> evidence_text(const PollingLoop& loop, std::uint64_t function_samples,
                                       const LoopJudgement& judgement, std::size_t instructions);
/// The evidence for a polling loop that was found in samples alone.
std::vector<std::string> evidence_text(const PollingLoop& loop, std::uint64_t function_samples);

/// What shows the role of warps that wait at an mbarrier; empty: the role is unknown.
std::string role_text(const MbarrierWait& wait);

/// A line of a listing: offset and text, with the target's offset in place of a label.
std::string listing_line(const SassInstruction& instruction);

}  // namespace wicprof::analyzer
