// Decides the kind of the next iteration and the end of a solve. Every rank gets the same answers.
#pragma once

#include <cmath>
#include <cstdint>

#include "krylov/cg.h"

namespace sample::krylov {

class Schedule {
 public:
  enum class State { going, solved, no_convergence, breakdown };

  /// A solve ends when (r, r) <= `goal`, with the residual computed from x.
  Schedule(double goal, std::uint32_t max_iterations) : goal_(goal), most_(max_iterations) {}

  Kind kind() const { return kind_; }
  bool first() const { return first_; }  ///< whether the next step is the first after an image
  std::uint32_t done() const { return done_; }
  State state() const { return state_; }

  /// Reports the end of an iteration and its dot products, which are ignored for a residual.
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

/// The dot products of an iteration; identical for every way of waiting.
struct HistoryEntry {
  Kind kind;
  Dots dots;

  bool operator==(const HistoryEntry& other) const {
    return kind == other.kind && dots.gamma == other.dots.gamma && dots.delta == other.dots.delta;
  }
};

}  // namespace sample::krylov
