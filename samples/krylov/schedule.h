// Which kind of iteration comes next, and when a solve is over. Whoever runs one asks, with the same answers
// everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include "krylov/cg.h"

namespace sample::krylov {

class Schedule {
 public:
  enum class State { going, solved, no_convergence, breakdown };

  /// Solved is what has (r, r) of at most `goal`, by a residual computed from x.
  Schedule(double goal, std::uint32_t max_iterations) : goal_(goal), most_(max_iterations) {}

  Kind kind() const { return kind_; }
  bool first() const { return first_; }  ///< of a run of steps
  std::uint32_t done() const { return done_; }
  State state() const { return state_; }

  /// The iteration is done and these were the dot products that came with it. Those of a residual are not looked at.
  void next(const Dots& dots) {
    ++done_;
    if (kind_ != Kind::residual && !(std::isfinite(dots.gamma) && std::isfinite(dots.delta))) {
      state_ = State::breakdown;
      return;
    }
    const bool small = dots.gamma <= goal_;
    switch (kind_) {
      case Kind::residual:
        kind_ = Kind::image;
        break;
      case Kind::image:
        if (small) state_ = State::solved;
        kind_ = Kind::step;
        first_ = true;
        break;
      case Kind::step:
        first_ = false;
        if (small) kind_ = Kind::residual;
        break;
    }
    if (state_ == State::going && done_ >= most_) state_ = State::no_convergence;
  }

 private:
  double goal_;
  std::uint32_t most_;
  Kind kind_ = Kind::residual;
  bool first_ = true;
  std::uint32_t done_ = 0;
  State state_ = State::going;
};

/// What an iteration's dot products were; the same in every way of waiting.
struct HistoryEntry {
  Kind kind;
  Dots dots;

  bool operator==(const HistoryEntry& other) const {
    return kind == other.kind && dots.gamma == other.dots.gamma && dots.delta == other.dots.delta;
  }
};

}  // namespace sample::krylov
