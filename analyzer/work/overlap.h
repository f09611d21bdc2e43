// How much waiting overlapped with computation on the same SM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/modes.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

/// The waits that began in one mode. Shares are of the waiting time: the time of the waits during which other blocks
/// computed on the waiter's SM / the total length of the waits (WIC paper, figure 14).
struct Overlap {
  Mode mode = Mode::poll;
  std::uint64_t waits = 0;
  TimeNs waiting_ns = 0;
  /// Lower bound: counts the waiters of this trace, which compute between two waits in one kernel, and between the
  /// kernel's start and its first wait. Without recorded kernels: between two waits.
  double seen = 0;
  /// Upper bound: also counts the time of kernels on the device with blocks that never wait, since those may have
  /// computed on the SM. Empty without recorded kernels.
  std::optional<double> at_most;
};

struct Overlaps {
  std::vector<Overlap> modes;  ///< polling first
  std::string missing;         ///< why `modes` is empty
};

/// Scans each SM's waits.
Overlaps overlap(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels, const Modes& modes);

}  // namespace wicprof::analyzer
