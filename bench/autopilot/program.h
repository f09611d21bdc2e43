// Made programs for bench_autopilot: units of work one after the other, whose length depends on the way of waiting.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::bench {

enum class ProgramKind {
  equal,
  gain,
  loss,
  drift,
  parked_slower,
  polled_faster,
  heavy_tail,
  worse_tail,
  correlated,
  bursts
};
inline constexpr std::array kProgramKinds{
    ProgramKind::equal,         ProgramKind::gain,          ProgramKind::loss,       ProgramKind::drift,
    ProgramKind::parked_slower, ProgramKind::polled_faster, ProgramKind::heavy_tail, ProgramKind::worse_tail,
    ProgramKind::correlated,    ProgramKind::bursts};

inline std::string kind_name(ProgramKind kind) {
  constexpr std::array kNames{"equal",         "gain",       "loss",       "drift",      "parked_slower",
                              "polled_faster", "heavy_tail", "worse_tail", "correlated", "bursts"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// A time from which on both modes have these times per unit.
struct Regime {
  TimeNs from = 0;
  double polled = 1, parked = 1;  ///< times of the program's usual unit
};

/// parked_slower and polled_faster change again and again between a gain and a loss, by what their names say.
/// Everything follows from the seed and the length of the run.
class MadeProgram {
 public:
  MadeProgram(std::uint64_t seed, TimeNs length);

  ProgramKind kind() const { return kind_; }
  /// The seed decides; half of the programs of the kinds with several choices have equal modes.
  bool is_equal() const;
  bool changes_sign() const { return kind_ == ProgramKind::parked_slower || kind_ == ProgramKind::polled_faster; }
  TimeNs usual_unit() const { return std::llround(unit_ns_); }
  /// The expected time per unit, in ns.
  double expected(Mode mode, TimeNs at) const;
  /// Polled / parked.
  double ratio(TimeNs at) const { return expected(Mode::poll, at) / expected(Mode::park, at); }
  /// Whether parked units have a longer tail than polled ones at that time, relative to their times.
  bool has_worse_tail() const { return kind_ == ProgramKind::worse_tail; }

  /// The next unit's length, and the pause before it. Of one run: a copy of the program begins anew.
  struct Unit {
    TimeNs pause = 0, length = 0;
  };
  Unit next(Mode mode, TimeNs at);

 private:
  const Regime& regime(TimeNs at) const;
  double level(TimeNs at) const;
  double tail(Mode mode) const;

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  ProgramKind kind_;
  TimeNs length_;
  double unit_ns_ = 0;            // usual
  double spread_ = 0;             // of single units, of their logarithm
  double slow_ = 0;               // of slow noise that units share
  TimeNs slow_time_ = 0;          // its correlation time
  double correlation_ = 0;        // of neighbouring units
  double often_ = 0, far_ = 1;    // share of long units, and how much longer they are
  double worse_ = 1;              // how much longer those are while parked
  double drift_ = 0;              // of the level, over the run
  TimeNs burst_ = 0, quiet_ = 0;  // times with work and without, in turn
  std::vector<Regime> regimes_;
  double slow_now_ = 0, unit_now_ = 0;
  TimeNs at_ = 0;
};

}  // namespace wicprof::bench
