// A rank's matrix and vectors in host memory, for the CPU's own rank and for the reference of all ranks.
#pragma once

#include <vector>

#include "krylov/cg.h"

namespace sample::krylov {

class HostMemory {
 public:
  /// `b`: the whole right-hand side. The plan must outlive this.
  HostMemory(const RankPlan& plan, const std::vector<double>& b)
      : b_(plan.rows()),
        vectors_(8, std::vector<double>(plan.rows())),
        products_(plan.boundary()),
        ghosts_(plan.ghosts),
        chunks_(chunks_of(plan.rows())) {
    for (std::uint32_t i = 0; i < plan.rows(); ++i) b_[i] = b[plan.global[i]];
    view_ = {plan.sharing,
             plan.rows(),
             plan.interior,
             plan.dot_rows,
             plan.matrix.view(),
             plan.combine.begin.data(),
             plan.combine.from.data(),
             b_.data(),
             vectors_[0].data(),
             vectors_[1].data(),
             vectors_[2].data(),
             vectors_[3].data(),
             vectors_[4].data(),
             vectors_[5].data(),
             vectors_[6].data(),
             vectors_[7].data(),
             products_.data(),
             ghosts_.data(),
             chunks_.data()};
  }
  HostMemory(const HostMemory&) = delete;

  RankView& view() { return view_; }
  std::vector<double>& x() { return vectors_[0]; }

 private:
  std::vector<double> b_;
  std::vector<std::vector<double>> vectors_;
  std::vector<double> products_, ghosts_;
  std::vector<Dots> chunks_;
  RankView view_{};
};

/// Finishes a chunk's rows and stores their sum, in one thread.
inline void finish_chunk(const RankView& rank, Kind kind, const Coefficients& c, std::uint32_t chunk) {
  FoldScratch scratch;
  for (std::uint32_t s = 0; s < kSlots; ++s) scratch.slots[s] = rank.finish_slot(kind, c, chunk, s);
  rank.chunks[chunk] = fold(scratch);
}

}  // namespace sample::krylov
