// Watches over a run until the program ends: schedule, recording window, signals, time limit.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/record/ab_run.h"
#include "cli/record/auto_run.h"
#include "cli/record/capture.h"
#include "cli/record/drain.h"
#include "cli/record/last_sight.h"
#include "cli/record/long_wait.h"
#include "cli/record/other_root.h"
#include "cli/record/progress.h"
#include "cli/record/recorded_process.h"
#include "cli/record/run_app.h"
#include "cli/record/schedule.h"
#include "cli/record/switchboard.h"
#include "cli/record/terminal_signals.h"
#include "cli/record/triggers.h"

namespace wicprof::cli {

/// One thread.
class Supervision {
 public:
  /// All arguments must outlive the supervision. `triggers`: nullptr without --trigger. `helper`: a child
  /// of wic-prof that is not the program's, or 0.
  Supervision(RecordedProcess& app, const SessionMap& session, Switchboard& switchboard, const Drain& drain,
              TerminalSignals& signals, CaptureWindow& window, AbRun& ab, AutoRun& autopilot, OtherRoot& other_root,
              const RunPlan& plan, LastSight& sight, Triggers* triggers, pid_t helper);

  /// Returns how the program ended; empty: it was left running (--kill none). A failure of wic-prof itself becomes a
  /// warning.
  std::optional<AppEnd> until_end() noexcept;

  std::optional<int> interrupted() const { return interrupted_; }
  bool timed_out() const { return timed_out_; }
  bool ended_as_planned() const { return ended_as_planned_; }
  /// Whether the user knows that the recording has stopped.
  bool reported_stop() const { return trouble_reported_; }
  std::size_t unused_phases() const { return schedule_.remaining(); }

 private:
  bool over();
  LastSight::End how_it_ended() const;
  void step();
  TimeNs pause() const;
  void follow_window();
  void follow_schedule();
  void follow_ab();
  void follow_autopilot();
  void report_trouble();
  void report_long_wait();
  void report_dumps();
  void say(const std::string& text);
  void tell(const std::string& text);

  void take(const TerminalSignals::Signal& signal);
  void stop_both(const TerminalSignals::Signal& signal);
  void interrupt(const TerminalSignals::Signal& signal);
  bool is_third_press();
  void pass_on(const TerminalSignals::Signal& signal);
  void end_program(int signal);
  void end_as_planned(int signal);
  void kill_program(const char* why);
  void send(int signal);
  std::vector<pid_t> left_behind();

  RecordedProcess& app_;
  const SessionMap& session_;
  Switchboard& switchboard_;
  const Drain& drain_;
  TerminalSignals& signals_;
  CaptureWindow& window_;
  AbRun& ab_;
  AutoRun& autopilot_;
  OtherRoot& other_root_;
  const RunPlan& plan_;
  LastSight& sight_;
  Triggers* const triggers_;
  pid_t helper_;
  Schedule schedule_;
  ProgressLine progress_;
  LongWait long_wait_;
  std::optional<std::uint32_t> sequence_;  // of the scheduled change that is not applied yet
  TimeNs apply_deadline_ = 0;
  std::optional<AppEnd> end_;  // of the program; what it left behind may still run
  std::optional<int> interrupted_;
  struct PlannedEnd {
    int signal = 0;
    TimeNs at = 0;
  };
  std::optional<PlannedEnd> end_with_;  // once collectors have handed over what they know
  std::optional<TimeNs> kill_at_, limit_at_;
  std::array<TimeNs, 2> presses_{};  // of Ctrl-C, the last two
  bool said_may_go_on_ = false;
  bool ending_ = false;        // the program has been told to end
  bool left_running_ = false;  // the recording ends without it
  bool timed_out_ = false;
  bool ended_as_planned_ = false;
  bool trouble_reported_ = false;
  std::string news_;  // of the trace's file, the last that were said
};

}  // namespace wicprof::cli
