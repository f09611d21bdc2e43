// All ranks: rank 0 is the CPU, the others are the devices, in the order of --devices; and a lane from each to each.
#pragma once

#include <memory>
#include <vector>

#include "krylov/cluster_options.h"
#include "krylov/plan.h"
#include "krylov/schedule.h"
#include "wic/runtime.h"

namespace sample::krylov {

/// One host thread.
class Cluster {
 public:
  /// A plan for each rank: one more than the runtime has devices, at most kMaxRanks. Plans and runtime must outlive
  /// this. Errors: those of lanes; a shape of kernels that cannot be or does not fit; too little memory.
  static wicprof::Result<std::unique_ptr<Cluster>> make(wic::Runtime& runtime, const std::vector<RankPlan>& plans,
                                                        const std::vector<double>& b, const ClusterOptions& options);
  Cluster(const Cluster&) = delete;
  ~Cluster();

  /// A solve from x = 0. Its history is the same whenever it is done. Errors: wicprof::failed when a deadline passed, a
  /// message was wrong or the iteration did not converge; after one there is no further solve.
  wicprof::Result<std::vector<HistoryEntry>> solve(Schedule schedule);

  /// x of the rows of a rank, in their order there.
  wicprof::Result<std::vector<double>> read_x(std::size_t rank);

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sample::krylov
