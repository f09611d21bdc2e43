// The autopilot of a running program: follows auto_rule.h for each side of the program that waits, and switches it.
//
// The sides take turns, since they share the program's units of work: while one is tried or checked, the other waits as
// it does, and its own control blocks come afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/metrics/autopilot_facts.h"
#include "cli/record/auto_rule.h"
#include "cli/record/iteration_meter.h"
#include "cli/record/switchboard.h"
#include "protocol/event_sink.h"
#include "protocol/result.h"
#include "store/format/tables/decision.h"

namespace wicprof::cli {

struct AutoPlan {
  WantedWait park{Mode::park, default_strategy(Mode::park)};
  WaitSide side = WaitSide::both;  ///< whose waits it may park
  std::uint64_t seed = 1;
  /// How the program waited before; brought back at the end.
  WantedWait device_before{}, host_before{};
};

class AutoRun {
 public:
  /// `program`: a process with the program's CPU quota. All references must outlive the run.
  AutoRun(Switchboard& switchboard, IterationMeter& meter, EventSink& sink, pid_t program)
      : switchboard_(switchboard), meter_(meter), sink_(sink), program_(program) {}

  /// Any thread. Error: it runs already.
  Result<> begin(const AutoPlan& plan);
  /// Ends it, brings back the ways of waiting that it found, and records why. Nothing if it does not run. Any thread.
  void end(const std::string& reason, TimeNs now);

  /// Does what is due. `attached`: when the program's wic runtime attached; 0 = not yet. Returns a sentence for the
  /// user about what it decided. The supervising thread.
  std::optional<std::string> follow(TimeNs now, TimeNs attached);
  /// The program has ended. The supervising thread.
  void program_ended();

  /// Any thread.
  bool running() const;
  /// Whether follow() is due every few milliseconds. Any thread.
  bool measures() const;
  std::string doing() const;  ///< for people, with the last decision; empty before begin()
  AutopilotFacts facts() const;

 private:
  struct Side {
    WaitSide side = WaitSide::device;
    AutoRule rule;
    Mode mode = Mode::poll;
    std::optional<store::DecisionRow> last = {};
  };

  void find_sides();
  bool measures_now() const;  // with the lock
  void change(Side& side, Mode to, TimeNs now);
  std::optional<std::string> take_decisions(Side& side);
  void record(const store::DecisionRow& row);
  void next_turn(TimeNs now);

  Switchboard& switchboard_;
  IterationMeter& meter_;
  EventSink& sink_;
  const pid_t program_;
  mutable std::mutex mutex_;  // guards what follows
  bool running_ = false;
  AutoPlan plan_;
  TimeNs quota_period_ = 0;
  std::vector<Side> sides_;
  std::size_t turn_ = 0;
  std::optional<std::uint32_t> sequence_;  // of the change under way
  TimeNs requested_ = 0;
  bool late_ = false;  // it has taken longer than it may
  AutopilotFacts facts_;
  std::string ended_;  // why
};

}  // namespace wicprof::cli
