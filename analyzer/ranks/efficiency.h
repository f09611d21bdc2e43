// How well a job uses its ranks, in POP's words.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/ranks/rank_work.h"

namespace wicprof::analyzer {

/// A rank's own waits for others, beside its work.
struct WorkAndWaits {
  const RankWork* work = nullptr;
  TimeNs waited_ns = 0;
};

/// Shares from 0 to 1 (POP, "standard metrics for performance audit and plans"): parallel = load_balance *
/// communication, communication = serialisation * transfer. Useful is what a rank does between its calls of MPI, or
/// beside kernels of NCCL. With a network that takes no time, a rank would still wait for late ones: a rank's useful
/// time with its waits stands for POP's replay.
struct RankEfficiency {
  double parallel = 0;
  double load_balance = 0;   ///< mean useful time over the longest one
  double communication = 0;  ///< the longest useful time over the run
  double serialisation = 0;  ///< the longest useful time over the longest with waits
  double transfer = 0;       ///< the longest with waits over the run
  TimeNs run_ns = 0;         ///< of the rank that took longest
};

/// Empty: the trace does not have the work of all ranks, or a rank calls MPI in several threads at once.
std::optional<RankEfficiency> rank_efficiency(const std::vector<WorkAndWaits>& ranks);

}  // namespace wicprof::analyzer
