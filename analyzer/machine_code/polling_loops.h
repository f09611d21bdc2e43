// Polling found from outside: loops that wait, in programs that know nothing of wic-prof, told by samples of program
// counters and by the loop's machine instructions where the trace has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/machine_code/loop_kind.h"
#include "analyzer/machine_code/stalls.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct PollingLoop {
  DeviceId device = 0;
  std::uint64_t module = 0;
  std::string symbol;
  std::string function;  ///< as people read it
  LoopKind kind = LoopKind::poll;
  bool from_instructions = false;    ///< false: from samples alone, without the loop's instructions
  double confidence = 0;             ///< 0 to 1
  std::uint64_t begin = 0, end = 0;  ///< offsets of the first and the last instruction in the function
  std::string file;                  ///< of the look at the word; empty = not known
  std::uint32_t line = 0;
  std::uint64_t samples = 0;
  std::uint64_t behind = 0;               ///< samples of warps that stand at the barrier behind the loop until it ends
  double share = 0;                       ///< of its device's samples, those behind it not included
  double behind_share = 0;                ///< the same for those behind it
  double function_share = 0;              ///< of its function's samples, those behind it not included
  bool sleeps = false;                    ///< NANOSLEEP between two looks: a wait that gives its turns away
  bool deadline = false;                  ///< gives up by a clock
  std::vector<StallShare> reasons;        ///< most samples first
  std::vector<std::string> evidence;      ///< in words and figures
  std::vector<std::string> code;          ///< a line an instruction: offset and text; empty without instructions
  std::vector<std::uint32_t> code_lines;  ///< the source line of each, in `file` or in what it includes; 0 = not known
  std::vector<std::string> beside;        ///< kernels that ran on the device at the same time, longest first
};

/// Most samples first. A loop whose share could not be told from chance is not listed.
std::vector<PollingLoop> find_polling_loops(const TraceModel& model, const Stalls& stalls);

/// "poll.cu:42", else "offset 0x90".
std::string place_of(const PollingLoop& loop);
/// What it is, in some words: "polls a word".
std::string_view what_it_does(const PollingLoop& loop);

}  // namespace wicprof::analyzer
