// The cost of recording: CPU time of wic-prof's own threads, and overhead reported by CUPTI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/waits/host_waits.h"

namespace wicprof::analyzer {

struct OverheadStats {
  std::string what;  ///< CUPTI's name
  std::uint64_t count = 0;
  TimeNs total_ns = 0;
};

struct OwnCost {
  bool sampled = false;                      ///< the trace has thread samples
  TimeNs over_ns = 0;                        ///< from the first sample's begin to the last sample's end
  TimeNs in_program_ns = 0, in_tool_ns = 0;  ///< CPU time of own threads in the program and in the process wic-prof
  std::uint64_t threads = 0;
  double share = 0;                      ///< CPU time of own threads / over_ns; 1: one whole core
  std::vector<OverheadStats> overheads;  ///< most time first

  TimeNs cpu_ns() const { return in_program_ns + in_tool_ns; }
};

/// `threads`: thread_stats(model).
OwnCost own_cost(const TraceModel& model, const std::vector<ThreadStats>& threads);

}  // namespace wicprof::analyzer
