// Kernels that did not run all the time between their begin and their end, since another program, or another context,
// had the device by turns. Without MPS, contexts share a device so.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/late_starts.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

/// Of one context of a process on one device.
struct InterruptedKernels {
  store::ProcessId process = 0;
  std::uint32_t context = 0;
  DeviceId device = 0;
  std::uint64_t kernels = 0;      ///< launches that turns of others made longer; those at the same time count once
  std::uint64_t late_starts = 0;  ///< launches with nothing in front of them that began late
  TimeNs turn_ns = 0;             ///< the median of what one turn makes a kernel longer or late by
  /// What the host waits of the process would be shorter by without these; the sum of these if no host wait is
  /// recorded.
  TimeNs lost_ns = 0;
  std::size_t kinds = 0;                   ///< of kernels with launches that were interrupted
  TimeNs shortest_ns = 0, longest_ns = 0;  ///< what kernels of these kinds take without a turn; 0: no kinds
  std::vector<store::ProcessId> others;    ///< processes of this trace whose kernels had the device in most turns
  bool others_supposed = false;  ///< of digests: these ran kernels there meanwhile; in which turns is not known
  /// Kernels show the turns, or kernels of several kinds begin late, or a process of this trace has the turns. False:
  /// one kind of launch alone, which something may make late that the trace does not show.
  bool sure = false;
};

/// What is launched while others have the device begins late. A turn that a kernel meets makes it longer by the same
/// time, whether that kernel is short or long; whatever else makes kernels longer does so in proportion, or by times
/// that differ, or to few kinds of them. So either many late starts show that others have the device, or kernels of
/// several kinds that get longer by the same time. Empty where the trace shows neither. `late`: from late_starts().
/// Most time lost first. With what digests have of it. Linear in the number of kernels.
std::vector<InterruptedKernels> interrupted_kernels(const TraceModel& model, const WaitKernels& kinds,
                                                    const DeviceWork& work, const std::vector<LateStart>& late);

}  // namespace wicprof::analyzer
