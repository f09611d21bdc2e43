// Calls that allocate or free memory, and what the devices did meanwhile: such a call can wait for a device's work.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/measure/statistics.h"
#include "analyzer/path/idle_times.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct MemoryCalls {
  std::uint64_t allocations = 0, frees = 0;
  std::uint64_t from_pools = 0;  ///< allocations that run in their stream's order (cudaMallocAsync)
  std::string free_call;         ///< the one that took longest, such as cudaFree
  TimeNs freeing_ns = 0;         ///< in calls that free
  TimeNs waiting_ns = 0;         ///< of that, while a device worked: such a call returns once the work is done
  TimeNs allocating_ns = 0;      ///< in calls that allocate
  TimeNs idle_ns = 0;            ///< in either, while no device had anything to do; calls at once count once
};

/// Of the calls within `ground`, by processes that launch kernels.
MemoryCalls memory_calls(const TraceModel& model, const IdleTimes& idle, Interval ground);

}  // namespace wicprof::analyzer
