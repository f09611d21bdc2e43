// Which reads of memory decide whether a loop goes on: its own, those of a thread that passes on what it reads, and
// those of several words in turn.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "code/verdicts.h"
#include "rewriter/waits/values.h"

namespace wicprof::rewriter {

/// All numbers are of instructions.
struct Decisions {
  std::set<std::size_t> polls;       ///< loads and atomics; empty: none decides
  std::set<std::size_t> in_turn;     ///< comparisons of words that are polled in turn
  std::set<std::size_t> broadcasts;  ///< loads of shared memory that return what a poll of the loop has read
  std::set<std::size_t> passing_on;  ///< the stores of those
  std::set<std::size_t> compared;    ///< what compares; empty: a clock or an instruction of the hardware decides, too
  std::set<std::size_t> searched;    ///< loads of words in turn, up to a number of them or until a value is found
  std::string doubtful;              ///< why a way out is not understood; empty: all are
  bool hardware = false;             ///< an instruction that waits in hardware decides, too
  bool counts = false;               ///< a count alone is compared
  bool counted = false;              ///< and ends the loop, or chooses what does
  LoopReason without_polls;          ///< why no poll decides, where no way out is doubtful
};

Decisions decisions_of(const LoopValues& values);

/// Whether two accesses surely begin at the same place.
bool have_one_address(const LoopValues& values, std::size_t a, std::size_t b);

/// " (ld.global.u32, source line 12)": the instruction, behind a sentence.
std::string at_line(const Instruction& instruction);

}  // namespace wicprof::rewriter
