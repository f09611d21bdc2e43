// Kernels that did not run all the time between their begin and their end, since another program, or another context,
// had the device by turns. Without MPS, contexts share a device so.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

/// Of one context of a process on one device.
struct InterruptedKernels {
  store::ProcessId process = 0;
  std::uint32_t context = 0;
  DeviceId device = 0;
  std::uint64_t kernels = 0;  ///< launches that turns of others made longer; those at the same time count once
  TimeNs turn_ns = 0;         ///< the median of what one turn makes a kernel longer by
  TimeNs lost_ns = 0;         ///< by how much turns made these launches longer, in sum; at least
  std::size_t kinds = 0;      ///< of kernels with launches that were interrupted
  TimeNs shortest_ns = 0, longest_ns = 0;  ///< what kernels of these kinds take without a turn
  std::set<store::ProcessId> others;       ///< processes of this trace that had kernels on the device meanwhile
};

/// A turn makes each kernel that it meets longer by the same time, whether that kernel is short or long; whatever else
/// makes kernels longer does so in proportion, or by times that differ, or to few kinds of them. Empty where the trace
/// does not show that. Most time lost first. Linear in the number of kernels.
std::vector<InterruptedKernels> interrupted_kernels(const TraceModel& model, const WaitKernels& kinds);

}  // namespace wicprof::analyzer
