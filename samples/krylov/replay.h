// The reference for bitwise equality: the same solve in one thread, rank after rank. A rank reads other ranks' values
// directly by global number, so there are no messages, send lists or waits.
#pragma once

#include <memory>
#include <vector>

#include "krylov/host_memory.h"
#include "krylov/schedule.h"

namespace sample::krylov {

class Replay {
 public:
  /// The plans and `b` must outlive this.
  Replay(const std::vector<RankPlan>& plans, const std::vector<double>& b) : plans_(plans) {
    places_.resize(plans.size());
    for (std::size_t r = 0; r < plans.size(); ++r) {
      ranks_.push_back(std::make_unique<HostMemory>(plans[r], b));
      places_[r].resize(b.size());
      for (std::uint32_t i = 0; i < plans[r].rows(); ++i) places_[r][plans[r].global[i]] = i;
    }
    own_.resize(plans.size(), {0, 0});
  }

  /// Runs the next iteration, starting from x = 0, and returns its dot products.
  Dots iterate(Kind kind, bool first) {
    Dots dots{0, 0};
    if (kind != Kind::residual) {
      for (const Dots& own : own_) dots = dots + own;
    }
    Coefficients c{0, 0};
    if (kind == Kind::step) {
      c = coefficients_of(state_, dots, first);
      state_ = {dots.gamma, c.alpha};
    }
    for (auto& rank : ranks_) multiply(rank->view(), kind);
    for (std::size_t r = 0; r < ranks_.size(); ++r) fetch(r, kind);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RankView& view = ranks_[r]->view();
      const std::uint32_t chunks = chunks_of(view.rows);
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) finish_chunk(view, kind, c, chunk);
      own_[r] = sum_of_chunks(view.chunks, chunks);
    }
    for (auto& rank : ranks_) rank->view().advance(kind);
    return dots;
  }

  const std::vector<double>& x(std::size_t rank) const { return ranks_[rank]->x(); }

 private:
  static void multiply(const RankView& view, Kind kind) {
    if (view.sharing == Sharing::sum) {
      for (std::uint32_t i = 0; i < view.rows - view.interior; ++i) view.multiply_boundary(kind, i);
    }
    for (std::uint32_t row = 0; row < view.interior; ++row) view.multiply_interior(kind, row);
  }

  void fetch(std::size_t rank, Kind kind) {
    for (const Incoming& in : plans_[rank].incoming) {
      const RankView& peer = ranks_[in.peer]->view();
      const std::uint32_t before = peer.sharing == Sharing::sum ? peer.interior : 0;
      for (std::uint32_t i = 0; i < in.global.size(); ++i) {
        ranks_[rank]->view().ghosts[in.ghost_begin + i] = peer.sent(kind)[places_[in.peer][in.global[i]] - before];
      }
    }
  }

  const std::vector<RankPlan>& plans_;
  std::vector<std::vector<std::uint32_t>> places_;  // [rank][global number]: local index
  std::vector<std::unique_ptr<HostMemory>> ranks_;
  std::vector<Dots> own_;
  CgState state_{0, 0};
};

}  // namespace sample::krylov
