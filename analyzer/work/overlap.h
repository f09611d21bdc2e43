// How much of the waiting was hidden behind computation on the same SM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/modes.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

/// The waits that began in one mode. Shares are of the waiting time: the sum over the waits of the time in which
/// somebody computed on the waiter's SM, over the sum of their lengths (WIC paper, figure 14).
struct Overlap {
  Mode mode = Mode::poll;
  std::uint64_t waits = 0;
  TimeNs waiting_ns = 0;
  /// Of those who wait in this trace somebody computed on the SM: was between two waits of one kernel, or between the
  /// kernel's begin and its first wait. Where kernels are not recorded: between two waits.
  double seen = 0;
  /// The same, and the time in which a kernel with blocks that never wait ran on the device: some of them may have
  /// computed on the SM. Nothing where kernels are not recorded.
  std::optional<double> at_most;
};

struct Overlaps {
  std::vector<Overlap> modes;  ///< polling first
  std::string missing;         ///< why there is none; empty when there is
};

/// A scan over each SM's waits.
Overlaps overlap(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels, const Modes& modes);

}  // namespace wicprof::analyzer
