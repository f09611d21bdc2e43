// Which loops of a module wait for another thread's store, and what a patch may do in them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/verdicts.h"
#include "protocol/wanted_value.h"
#include "rewriter/flow/parameter_pointers.h"
#include "rewriter/text/module.h"
#include "rewriter/waits/word.h"

namespace wicprof::rewriter {

using Verdict = WaitVerdict;

/// How long a visit at the loop's back edge may sleep.
enum class Pause {
  none,   ///< not at all: the program sleeps by the clock already; rounds are counted
  brief,  ///< lanes of the same warp, or other waiters, may have to go on first, or another word is asked next
  any,
};

/// An instruction that reads the word that the loop waits for.
struct Poll {
  std::string_view opcode;
  SourcePlace place;  ///< of a poll in a function that the loop calls: the place in that function
};

/// One back edge, with its natural loop.
struct LoopVerdict {
  Verdict verdict = Verdict::unknown;
  std::string reason;                         ///< one line
  WaitedFor waited_for = WaitedFor::unknown;  ///< of a wait, one that cannot be patched too
  Pause pause = Pause::none;
  std::vector<Poll> polls;  ///< of a wait
  /// Where the loop stands: the first poll there, or the back edge of a loop without polls.
  SourcePlace place;
  SourcePlace called_at;  ///< in the function itself: where code that was inlined is called; else as `place`
  std::string name;       ///< of a wait: its site's, which no other of the module has
  std::size_t first_line = 0, last_line = 0;  ///< of the PTX text: the header and the back edge
  /// The statement that goes back: a branch, or the last statement before the header where the code falls through.
  std::size_t back_edge = 0;
  bool falls_through = false;
  /// Of a wait in whose loop the block meets: the statement behind which the visit stands, for the threads that poll.
  /// It may not stand at the back edge, and a thread may not wait until its own word changes: others may be waited for.
  std::optional<std::size_t> visit_behind;
  std::size_t header = 0;    ///< the statement with which the loop begins: a label, if there is one
  std::optional<Word> word;  ///< of a wait: what it polls, where the code at the back edge can read the word
  WantedValue wanted;        ///< of a wait with a known word
  /// The statements that come first behind the loop, in the order of the text; the number of statements stands for the
  /// function's end. Other code may lead there as well.
  std::vector<std::size_t> exits;
  bool exits_known = false;                ///< `exits` are all; else the loop may return from the function
  int live_registers = 0;                  ///< of a wait: as RegisterCount counts them at the loop's beginning
  std::vector<ParameterPointer> pointers;  ///< of a wait: those that live at the loop's beginning
};

struct FunctionVerdicts {
  const Function* function = nullptr;
  std::string problem;  ///< why the function is not understood; empty: it is
  std::vector<LoopVerdict> loops;
};

/// Names are "KERNEL:LINE", without lines "KERNEL:siteN", and where that is no name of its own "KERNEL:LINE#2".
/// The verdicts of all functions with a body, in the order of the text. `module` must outlive the result.
std::vector<FunctionVerdicts> recognize(const Module& module);

/// Asked before each loop and behind each function: false ends the analysis, which then has no result.
using GoesOn = std::function<bool()>;
std::optional<std::vector<FunctionVerdicts>> recognize(const Module& module, const GoesOn& goes_on);

/// "none", "brief", "any".
std::string_view name_of(Pause pause);

}  // namespace wicprof::rewriter
