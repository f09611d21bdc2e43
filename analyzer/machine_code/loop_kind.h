// Classifies a loop of machine instructions: whether it waits, and for what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/machine_code/loops.h"
#include "code/verdicts.h"

namespace wicprof::analyzer {

struct LoopJudgement {
  LoopKind kind = LoopKind::work;
  LoopReason reason = reasons::no_deciding_load;
  std::optional<std::size_t> poll_at;  ///< the instruction that reads the word (index into the function)
  WaitedFor waited_for = WaitedFor::unknown;
  std::string operation;  ///< of that instruction, for a loop that waits: "LDG.E.STRONG.SYS"
  bool strong = false;    ///< that instruction must observe other threads' stores
  bool sleeps = false;    ///< NANOSLEEP between two polls
  bool fences = false;
  bool scans = false;          ///< polls several words in turn
  bool writes = false;         ///< writes a sign of life in its rounds
  bool deadline = false;       ///< reads a clock, which can also end the loop
  std::size_t arithmetic = 0;  ///< floating-point and tensor operations
  std::size_t integers = 0;    ///< integer operations that serve neither an address, a sleep nor an exit decision
};

/// `function`: all instructions of a function by offset; `loop`: one of find_loops(function).
LoopJudgement judge_loop(const std::vector<SassInstruction>& function, const SassLoop& loop);

}  // namespace wicprof::analyzer
