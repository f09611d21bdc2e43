// When the autopilot tries, keeps and gives up parking, for one side of the program: a state machine over measurements
// that are passed in. It has no clock and no program of its own, so bench_autopilot and the tests drive it as AutoRun
// does.
//
//   observe --the units are steady--> trial --pays--> keep <--still pays-- check
//                                       |               |--a block or the level looks worse--^ |
//                                       v               v no units                             v does not pay
//                                     pause <----------------------------------------------- (back)
//                                       '--the pause is over--> trial
//
// Trial: blocks of two phases, one of each mode in random order, as `run --ab`. After each block, the interval of the
// time per unit (AutoFigures::ratio()) decides. It is a confidence sequence, which holds at every look, and trial
// number k of a run may miss with kMiss / (k (k + 1)), which sums to kMiss over any number of trials (the union bound).
// Since only one side of the interval leads to parking, a program with equal modes is parked by mistake in kMiss / 2 of
// all runs.
//
// Keep: parking pays if the interval is above 1, the estimate is kWorthwhile or more, and the 99th percentile of a unit
// is at most kMaxTail times the polled one. While it is kept, one block in a while shows whether it still does
// (busy_before_control()), since without polled phases nothing can show it; the level and the tail of the parked units
// are watched all the time. Whatever looks worse begins a check, which is a short trial: what is not proved again is
// given up. Going back is never delayed; a trial begins at least kPause after the last decision.
//
// Cost: of control blocks kControlShare of the program's units. Of trials that do not pay, kTrialAllowance and
// kTrialShare of the run: the next trial waits until that is so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/record/auto_figures.h"
#include "cli/record/phase_length.h"
#include "protocol/events/decision.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct AutoDecision {
  DecisionKind kind = DecisionKind::none;
  TimeNs from = 0, at = 0;
  std::size_t blocks = 0, poll_units = 0, park_units = 0;
  /// Per unit, polled / parked; the interval holds at every look of this measurement. Nothing: too few blocks.
  std::optional<analyzer::Speedup> ratio = {};
  TimeNs poll = 0, park = 0, poll_p99 = 0, park_p99 = 0;  ///< per unit; 0: not measured
  std::string reason = {};
};

/// One thread.
class AutoRule {
 public:
  // Not calibrated unless the comment says so; bench/autopilot.cpp judges them together.
  static constexpr double kMiss = 0.01;
  /// A gain below this is not worth a change: the tolerance of the comparison is 1.02, half of it either way.
  static constexpr double kWorthwhile = 1.01;
  static constexpr TimeNs kPause = 60 * kSecond;              ///< between a decision and the next trial, at least
  static constexpr TimeNs kLongestPause = 32 * 60 * kSecond;  ///< it doubles with each trial in vain, up to this
  static constexpr TimeNs kLongestTrial = 30 * kSecond;
  static constexpr TimeNs kLongestCheck = 4 * kSecond;
  static constexpr TimeNs kControlPause = 2 * kSecond;  ///< between control blocks, at least
  static constexpr double kControlShare = 0.004;        ///< of the program's units, lost by polling in control blocks
  /// ... and of all units, those of control blocks that are longer than 99 % of the parked ones: a fifth of the units
  /// that the 99th percentile leaves out.
  static constexpr double kControlUnits = 0.002;
  static constexpr TimeNs kTrialAllowance = kSecond;
  static constexpr double kTrialShare = 0.01;
  static constexpr TimeNs kLongSilence = 60 * kSecond;  ///< so long without a unit, what is kept is given up

  struct Plan {
    std::uint64_t seed = 1;
    TimeNs quota_period = 0;  ///< as in PhaseLength
  };
  explicit AutoRule(const Plan& plan);

  /// The program's units that ended since switched(), in order, in ns. Returns the mode to bring the side to now, which
  /// may be the one that it has; the caller then calls switched(). Nothing: continue as before.
  std::optional<Mode> look(TimeNs now, const std::vector<TimeNs>& units);
  /// The mode that look() returned is in effect since `effective`, and the units are counted anew.
  void switched(TimeNs effective);
  /// What look() decided since the last call, in order.
  std::vector<AutoDecision> take_decisions();

  /// The way to wait if the autopilot ended now.
  bool keeps() const { return state_ == State::keep || state_ == State::check || state_ == State::control; }
  /// Whether it compares modes now: nobody else may change the program.
  bool is_busy() const {
    return state_ == State::trial || state_ == State::check || state_ == State::control || requested_;
  }
  /// For people, before "device waits": "tries parking of", "does not park".
  std::string doing() const;

 private:
  enum class State { observe, trial, keep, control, check, pause };

  Mode begin_measuring(State state, TimeNs now);
  std::optional<Mode> observe(TimeNs now, const std::vector<TimeNs>& units);
  std::optional<Mode> measure(TimeNs now, const std::vector<TimeNs>& units);
  std::optional<Mode> next_phase();
  AutoPhase phase_of(TimeNs now, const std::vector<TimeNs>& units) const;
  void count_cost(const AutoPhase& one, const AutoPhase& other);
  std::optional<Mode> judge_trial(TimeNs now);
  std::optional<Mode> judge_control(TimeNs now);
  std::optional<Mode> judge_check(TimeNs now);
  std::optional<Mode> watch_kept(TimeNs now, const std::vector<TimeNs>& units);
  bool looks_worse(const AutoPhase& window);
  std::optional<Mode> watch_pause(TimeNs now, const std::vector<TimeNs>& units);

  Mode keep(TimeNs now, DecisionKind kind, const std::string& reason);
  Mode give_up(TimeNs now, DecisionKind kind, const std::string& reason);
  void decide(TimeNs now, DecisionKind kind, const std::string& reason);
  double miss() const;
  PhaseLength control_length() const;
  TimeNs busy_before_control() const;
  bool tails_are_clear() const;
  bool tails_are_known(TimeNs took) const;
  TimeNs pause() const;
  TimeNs usual_window() const;
  TimeNs allowance(TimeNs now) const;
  std::size_t blocks_for_suspicion() const;

  Plan plan_;
  PhaseLength length_;
  std::mt19937_64 random_;
  State state_ = State::observe;
  bool requested_ = false;   // a mode that is not in effect yet
  TimeNs begun_ = 0;         // the first look
  TimeNs since_ = 0;         // the current stretch
  std::size_t seen_ = 0;     // its units at the last look
  bool unit_ended_ = false;  // since then
  std::vector<AutoDecision> decisions_;

  // Of the measurement that runs, or of the last one.
  AutoFigures figures_;
  std::optional<AutoPhase> first_;  // of the block
  Mode mode_ = Mode::poll;          // of the current phase
  bool warms_up_ = false;           // the first parked phase of a trial does not count
  std::size_t tail_wanted_ = 0;     // units of each mode at the next look at the tails

  // Of what is kept.
  double long_ = 1;                      // share of polled units that are longer than 99 % of the parked ones
  double polled_unit_ = 1;               // in ns
  double gain_ = 0, noise_ = 0;          // of a block: the logarithm, and its standard deviation
  double level_ = 0, level_limit_ = 0;   // log time per unit, and the rise that begins a check
  std::vector<double> controls_;         // differences of control blocks since the last check
  std::vector<TimeNs> polled_, parked_;  // units for the tails: of the last measurement, and the latest
  enum class Suspicion { block, level, tail } suspicion_ = Suspicion::block;
  unsigned level_alarms_ = 0, tail_alarms_ = 0;  // checks that they began and that changed nothing
  TimeNs control_at_ = 0, heard_ = 0, polled_phase_ = 0;
  TimeNs busy_ = 0;  // parked, and with units, since the last control block

  // Of trials.
  unsigned trials_ = 0, in_vain_ = 0;
  double cost_ns_ = 0;  // time lost in the dearer mode while parking did not pay
  TimeNs decided_ = 0;
  unsigned changed_ = 0;  // windows in a row, during a pause, whose level is another than at the decision
};

}  // namespace wicprof::cli
