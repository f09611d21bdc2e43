// One recorded run of a program, from creating the session to removing it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/metrics/address.h"
#include "cli/record/ab_schedule.h"
#include "cli/record/auto_run.h"
#include "cli/record/capture.h"
#include "cli/record/recorded_process.h"
#include "cli/record/schedule.h"
#include "cli/record/terminal_signals.h"
#include "protocol/result.h"

namespace wicprof::cli {

struct RunPlan {
  std::vector<std::string> words;  ///< the program and its arguments
  std::string output;              ///< a pattern (output_name.h); empty = <program>.%p.wicprof
  bool overwrite = false;
  std::vector<Phase> phases;                ///< the first applies from the start; empty = the program's own choice
  WaitSide side = WaitSide::both;           ///< which waits the phases are about
  std::string schedule_text;                ///< as the user wrote it; empty without a schedule
  std::optional<AbPlan> ab;                 ///< compares both modes from the start; see compare()
  std::optional<AutoPlan> autopilot;        ///< parks where that is measured to pay, from the start
  std::string name;                         ///< of the session; empty = the program's name
  std::optional<std::size_t> buffer_bytes;  ///< all rings together; empty: as fitting_buffer() says
  CapturePlan capture;
  bool quiet = false;
  std::string log;        ///< file for the program's stdout and stderr; empty = it inherits wic-prof's
  TimeNs time_limit = 0;  ///< a program that runs longer gets SIGTERM, then SIGKILL 5 s later; 0 = none
  /// Ends the program when the run is interrupted or --duration is over (kNoSignal: leaves it running); empty = an
  /// interruption's own signal, and the program outlives --duration.
  std::optional<int> stop_signal;
  MetricsPlan metrics;
  bool wait_for_all = false;    ///< record until all processes that the program started have ended
  std::optional<pid_t> attach;  ///< this process, which runs already, instead of `words`; it goes on afterwards
  bool join = true;             ///< by ptrace, where that process has no library of ours
  TimeNs attach_time = 0;       ///< for so long; 0 = until the recording is interrupted, or the program ends
  /// Called once the program and the session are running. Returns a child process that it started, or 0.
  std::function<pid_t(const std::string& session)> started;

  /// Begins in the program's own way.
  void park_where_it_pays(const AutoPlan& how) {
    autopilot = how;
    side = how.side;
    phases = {{WantedWait{Mode::poll, default_strategy(Mode::poll)}, 0}};
  }
  /// Compares both modes, in the program's own way at first.
  void compare(const AbPlan& modes) {
    ab = modes;
    phases = {{modes.poll, 0}};
  }
};

struct RunOutcome {
  std::string trace;                 ///< path of the trace; of the last segment with --segment
  unsigned segments = 0;             ///< recorded, the last included; 0 = not in segments
  std::string first_segment;         ///< path, whether it was kept or not
  AppEnd end;                        ///< how the program ended
  std::optional<int> interrupted;    ///< the signal that ended the run early
  bool timed_out = false;            ///< the program reached its time limit
  bool ended_as_planned = false;     ///< it was ended because the comparison or --duration was over
  bool left_running = false;         ///< it goes on without a recording; `end` says nothing
  std::string stays;                 ///< why the recording of a program that goes on may not have ended; empty: it has
  bool attached = false;             ///< the program started a wic runtime, which takes changes of mode
  bool compared = false;             ///< both modes were compared: the trace has phases
  WaitSide side = WaitSide::device;  ///< whose waits a comparison of this program is about unless somebody names a side
  bool host_waits = false;           ///< host threads waited in calls of CUDA
  std::optional<Error> recording;    ///< why the trace is incomplete
  bool lost = false;                 ///< others removed, emptied or replaced the trace
  std::string out_of_session;        ///< why a process may not have been recorded (out_of_session.h); empty: each could

  /// "ended with status 3", "was killed by signal 11 (Segmentation fault)"; empty if the program did not fail.
  std::string failure() const;

  /// The exit status of a verb that passes on the program's: a signal that wic-prof itself sent as planned is no
  /// failure, a lost trace is one.
  int status() const;
};

/// Starts the program, or attaches to it, records it until it ends, and finishes the trace. On an error the program was
/// not started, or goes on as before, and no files are left behind. Afterwards `signals`, whose thread runs, still end
/// the process with the program's status.
Result<RunOutcome> run_app(const RunPlan& plan, TerminalSignals& signals);

/// The same with signals of its own.
Result<RunOutcome> run_app(const RunPlan& plan);

}  // namespace wicprof::cli
