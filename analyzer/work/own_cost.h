// What recording itself cost: the CPU time of wic-prof's own threads, and the time that CUPTI and the driver took for
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/waits/host_waits.h"

namespace wicprof::analyzer {

struct OverheadStats {
  std::string what;  ///< as CUPTI calls it
  std::uint64_t count = 0;
  TimeNs total_ns = 0;
};

struct OwnCost {
  bool sampled = false;                      ///< whether the trace has samples of threads at all
  TimeNs over_ns = 0;                        ///< the time that the samples reach over
  TimeNs in_program_ns = 0, in_tool_ns = 0;  ///< CPU time of own threads, in the program's processes and in wic-prof's
  std::uint64_t threads = 0;
  double share = 0;                      ///< CPU time of own threads / over_ns: 1 = one core all the time
  std::vector<OverheadStats> overheads;  ///< most time first

  TimeNs cpu_ns() const { return in_program_ns + in_tool_ns; }
};

OwnCost own_cost(const TraceModel& model, const std::vector<ThreadStats>& threads);

}  // namespace wicprof::analyzer
