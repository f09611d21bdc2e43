// All ranks (rank 0 is the CPU; the others are the devices, in the order of --devices) and a lane between each pair in
// each direction.
#pragma once

#include <memory>
#include <vector>

#include "krylov/cluster_options.h"
#include "krylov/plan.h"
#include "krylov/schedule.h"
#include "wic/runtime.h"

namespace sample::krylov {

/// Used by one host thread.
class Cluster {
 public:
  /// `plans`: one per rank, that is, one more than the runtime has devices; at most kMaxRanks. Plans and runtime must
  /// outlive this. Errors: those of Lane::make(); an invalid or too large kernel shape; too little memory.
  static wic::Result<std::unique_ptr<Cluster>> make(wic::Runtime& runtime, const std::vector<RankPlan>& plans,
                                                    const std::vector<double>& b, const ClusterOptions& options);
  Cluster(const Cluster&) = delete;
  ~Cluster();

  /// Solves from x = 0. Every call returns the same history. Errors: wic::failed when a deadline passed, a message was
  /// wrong or the iteration did not converge; do not call again after an error.
  wic::Result<std::vector<HistoryEntry>> solve(Schedule schedule);

  /// x of a rank's rows, in the rank's local order.
  wic::Result<std::vector<double>> read_x(std::size_t rank);

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sample::krylov
