// The schedule of `run --ab`: both modes in turn, in random order within blocks of one phase each, until the interval
// of their ratio is as narrow as asked for or the time is over. Only decides; its owner switches the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/record/phase_length.h"
#include "protocol/control.h"
#include "protocol/control_messages.h"
#include "protocol/time.h"
#include "store/format/meta_key.h"

namespace wicprof::cli {

struct AbPlan {
  TimeNs time = kAbTime;  ///< from the attachment of the program's wic runtime, the warm-up included
  /// The half width of the interval that ends the measurement early, as a share of the ratio; 0: never early.
  double precision = kAbPrecision;
  std::uint64_t seed = 1;
  WantedWait poll{Mode::poll, default_strategy(Mode::poll)};
  WantedWait park{Mode::park, default_strategy(Mode::park)};
  WantedWait then = poll;        ///< after the measurement
  std::optional<WaitSide> side;  ///< whose waits change; empty: chosen after the warm-up, by the waits that there are
  /// Keeps the program polling in both kinds of phases: shows what the comparison finds by chance.
  bool placebo = false;
  bool end_program = false;  ///< once the measurement is over
  TimeNs least_phase = kShortestPhase;
  bool patched = false;  ///< waits of patched loops have no iterations: ranges and launches show the program's steps
  /// As in PhaseLength.
  TimeNs quota_period = 0;
};

/// What ended the measurement.
enum class AbEnd { running, precision, time, program };
/// "precision", "time" and "program"; "running" before that.
std::string_view ab_end_name(AbEnd end);

/// One thread.
class AbSchedule {
 public:
  explicit AbSchedule(const AbPlan& plan);

  /// Looks at the stretch of iterations since the last change: `durations` in ns, in order. Returns the way of waiting
  /// to switch to now, which begins another stretch; the caller then calls switched(). Nothing: continue as before.
  /// `attached`: when the program's wic runtime attached.
  std::optional<WantedWait> look(TimeNs now, TimeNs attached, const std::vector<TimeNs>& durations);
  /// The change is in effect since `effective`; it was requested at `requested`.
  void switched(TimeNs requested, TimeNs effective);
  /// The program has ended at `now`.
  void program_ended(TimeNs now);

  bool over() const { return end_ != AbEnd::running; }
  AbEnd end() const { return end_; }
  const AbPlan& plan() const { return plan_; }
  /// Blocks that both modes had a phase in.
  std::size_t blocks() const { return differences_.size(); }
  /// One line for people: what it does now.
  std::string doing() const;
  /// What the trace says of it: meta's ab_* keys (docs/schema.md).
  std::map<store::MetaKey, std::string> meta() const;

 private:
  struct Phase {
    Mode mode = Mode::poll;
    TimeNs begin = 0, end = 0;
    double log_time = 0;  // of its median iteration, or of their mean; 0: too few
  };
  enum class Stage { warm_up, other_warm_up, phases };

  WantedWait way_of(Mode mode) const { return mode == Mode::poll || plan_.placebo ? plan_.poll : plan_.park; }
  Mode next_phase();
  void close_phase(TimeNs now, const std::vector<TimeNs>& durations);
  WantedWait finish(AbEnd end);

  AbPlan plan_;
  PhaseLength length_;
  std::mt19937_64 random_;
  Stage stage_ = Stage::warm_up;
  bool steady_ = false;
  bool requested_ = false;  // a change that is not yet in effect
  TimeNs since_ = 0;        // the current stretch
  Mode first_of_block_ = Mode::poll;
  bool second_ = false;  // the current phase is its block's second
  std::vector<Phase> phases_;
  std::vector<double> differences_;
  AbEnd end_ = AbEnd::running;
};

}  // namespace wicprof::cli
