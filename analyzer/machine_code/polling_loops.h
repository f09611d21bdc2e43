// Finds polling loops, and waits at mbarriers, in uninstrumented programs, from program counter samples and, if the
// trace has them, the loops' machine instructions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/loop_kind.h"
#include "analyzer/machine_code/mbarrier_wait.h"
#include "analyzer/machine_code/stalls.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct PollingLoop {
  DeviceId device = 0;
  std::uint64_t module = 0;
  std::string symbol;
  std::string function;  ///< demangled
  LoopKind kind = LoopKind::poll;
  WaitedFor waited_for = WaitedFor::unknown;
  bool from_instructions = false;    ///< false: found from samples alone
  double confidence = 0;             ///< 0 to 1
  std::uint64_t begin = 0, end = 0;  ///< offsets of the first and the last instruction in the function
  std::string file;                  ///< source of the polling instruction; empty: unknown
  std::uint32_t line = 0;
  std::uint64_t samples = 0;
  std::uint64_t behind = 0;   ///< samples of warps at the barrier after the loop, waiting for the poller
  double share = 0;           ///< `samples` / samples of the device
  double behind_share = 0;    ///< `behind` / samples of the device
  double function_share = 0;  ///< `samples` / samples of the function
  bool sleeps = false;        ///< NANOSLEEP between two polls: yields issue slots to other warps
  bool deadline = false;      ///< ends at a deadline
  PipelineRole role = PipelineRole::unknown;  ///< of warps that wait at an mbarrier
  std::size_t copies = 1;                     ///< loops of this shape, as unrolling makes them; counted together
  std::vector<StallShare> reasons;            ///< most samples first
  std::vector<std::string> evidence;          ///< sentences
  std::vector<std::string> code;              ///< one line per instruction: offset and text; empty without instructions
  std::vector<std::uint32_t> code_lines;      ///< source line per instruction, in `file` or its includes; 0: unknown
  std::vector<SiteId> sites;                  ///< the patched loops of the PTX that this code came from
  std::vector<std::string> beside;            ///< kernels that ran on the device at the same time, longest first
};

/// Most samples first. Omits loops with too few samples to matter. Those of the kind try_wait wait at mbarriers: their
/// samples are those of the loop and of the tries before it.
std::vector<PollingLoop> find_polling_loops(const TraceModel& model, const Stalls& stalls);

/// `kernel`: a kernel's name in the trace.
bool is_of_kernel(const PollingLoop& loop, std::string_view kernel);
/// "poll.cu:42", or "offset 0x90" without a source line.
std::string place_of(const PollingLoop& loop);
/// A short description: "polls a word".
std::string_view what_it_does(const PollingLoop& loop);

}  // namespace wicprof::analyzer
