// Samples of program counters by function, and what its warps stood at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct StallShare {
  std::string reason;  ///< CUPTI's name without prefix: "long_scoreboard"
  std::uint64_t samples = 0;
};

/// The samples of one program counter, all reasons together.
struct SampledPc {
  std::uint64_t offset = 0;
  std::uint64_t samples = 0;
  std::vector<StallShare> reasons;  ///< most samples first
  std::string file;                 ///< empty = not known
  std::uint32_t line = 0;
};

struct SampledLine {
  std::string file;
  std::uint32_t line = 0;
  std::uint64_t samples = 0;
};

struct FunctionStalls {
  DeviceId device = 0;
  std::uint64_t module = 0;
  std::string symbol;
  std::string function;  ///< as people read it
  std::uint64_t samples = 0;
  double share = 0;                 ///< of all samples of its device
  std::vector<StallShare> reasons;  ///< most samples first
  std::vector<SampledLine> lines;   ///< most samples first; empty without line information
  std::vector<SampledPc> pcs;       ///< by offset
};

struct DeviceSamples {
  DeviceId device = 0;
  std::uint64_t samples = 0;  ///< what shares refer to: the program's own and other programs', without what was dropped
  std::uint64_t dropped = 0;
  std::uint64_t foreign = 0;  ///< in kernels that are not the program's
};

struct Stalls {
  std::vector<DeviceSamples> devices;
  std::vector<FunctionStalls> functions;  ///< most samples first
};

/// CUPTI counts the samples in which the scheduler issued nothing a second time under "<reason>_not_issued": of the
/// two, the larger is taken.
Stalls gather_stalls(const TraceModel& model);

/// Most samples first; reasons of the same name become one.
std::vector<StallShare> sum_reasons(const std::vector<const SampledPc*>& pcs);

/// The part of `reasons` that stands for waiting: for memory, a fence, a barrier, a branch, a sleep.
double waiting_share(const std::vector<StallShare>& reasons);
/// The part of `reasons` of one name.
double share_of(const std::vector<StallShare>& reasons, std::string_view reason);

}  // namespace wicprof::analyzer
