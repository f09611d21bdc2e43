// Program counter samples by function and stall reason.
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

/// The samples of one program counter.
struct SampledPc {
  std::uint64_t offset = 0;
  std::uint64_t samples = 0;
  std::vector<StallShare> reasons;  ///< most samples first
  std::string file;                 ///< empty: unknown
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
  std::string function;  ///< demangled
  std::uint64_t samples = 0;
  double share = 0;                 ///< samples / samples of the device
  std::vector<StallShare> reasons;  ///< most samples first
  std::vector<SampledLine> lines;   ///< most samples first; empty without line information
  std::vector<SampledPc> pcs;       ///< by offset
};

struct DeviceSamples {
  DeviceId device = 0;
  std::uint64_t samples = 0;  ///< the denominator of shares: the program's and foreign samples, without dropped ones
  std::uint64_t dropped = 0;
  std::uint64_t foreign = 0;  ///< in kernels of other programs
};

struct Stalls {
  std::vector<DeviceSamples> devices;
  std::vector<FunctionStalls> functions;  ///< most samples first
};

/// CUPTI counts samples in which the scheduler issued nothing also under "<reason>_not_issued"; uses the larger of both
/// counts.
Stalls gather_stalls(const TraceModel& model);

/// The samples by reason over several program counters; most samples first.
std::vector<StallShare> sum_reasons(const std::vector<const SampledPc*>& pcs);

/// The share of samples with a reason that means waiting: for memory, a fence, a barrier, a branch or a sleep.
double waiting_share(const std::vector<StallShare>& reasons);
/// The share of samples with this reason.
double share_of(const std::vector<StallShare>& reasons, std::string_view reason);

}  // namespace wicprof::analyzer
