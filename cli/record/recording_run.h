// The recording of one run: begins it, follows it to the program's end, and completes the trace.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/metrics/run_metrics.h"
#include "cli/record/ab_run.h"
#include "cli/record/auto_run.h"
#include "cli/record/capture.h"
#include "cli/record/cpu_quota.h"
#include "cli/record/drain.h"
#include "cli/record/energy_meter.h"
#include "cli/record/heartbeat.h"
#include "cli/record/held_program.h"
#include "cli/record/host_sampler.h"
#include "cli/record/iteration_meter.h"
#include "cli/record/last_sight.h"
#include "cli/record/last_way.h"
#include "cli/record/other_root.h"
#include "cli/record/out_of_session.h"
#include "cli/record/run_app.h"
#include "cli/record/segments.h"
#include "cli/record/supervision.h"
#include "cli/record/switchboard.h"
#include "cli/record/trace_patience.h"
#include "protocol/control_messages.h"
#include "protocol/control_socket.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

/// Removes the trace of a program that was never started.
class UnstartedTrace {
 public:
  UnstartedTrace() = default;
  UnstartedTrace(const UnstartedTrace&) = delete;
  UnstartedTrace& operator=(const UnstartedTrace&) = delete;
  ~UnstartedTrace();
  void created(std::string path) { path_ = std::move(path); }
  void program_started() { path_.clear(); }

 private:
  std::string path_;  // empty while there is nothing to remove
};

/// begin(), then until_end(). One thread; the drain's and the control server's threads call back.
class RecordingRun {
 public:
  /// All arguments must outlive the run.
  RecordingRun(const RunPlan& plan, TerminalSignals& signals, LastWay& last_way, HeldProgram& held);
  RecordingRun(const RecordingRun&) = delete;
  RecordingRun& operator=(const RecordingRun&) = delete;

  /// Starts the program. An exception passes through. Error: it was not started, and no trace is left.
  Result<> begin();
  /// Throws nothing: the program runs.
  RunOutcome until_end();

 private:
  Result<> open_metrics();
  Result<> open_trace();
  std::map<store::MetaKey, std::string> meta() const;
  void prepare_drain();
  void each_round();
  void keep_sight();
  void look_at(pid_t process);
  std::optional<QuotaCounts> throttled_so_far() const;
  void describe_steal(store::Recorder& of) const;
  void publish_metrics(TimeNs now);

  Result<> open_control();
  SessionStatus status() const;
  Result<ToggleReply> toggle(const ToggleRequest& request);
  Result<> begin_ab(const AbRequest& request);
  Result<> set_autopilot(const AutoRequest& request);
  Result<DumpReply> dump();

  Result<> start_program();
  void read_energy();
  void stop(RunOutcome& outcome);
  void describe_run(RunOutcome& outcome);
  void warn_of_unused(const RunOutcome& outcome) const;
  const char* why_no_phases(const RunOutcome& outcome) const;
  void complete_trace(RunOutcome& outcome);

  bool in_segments() const { return plan_.capture.segments.wanted(); }
  std::string name_of(const std::string& path, unsigned segment) const;
  unsigned segment() const { return segments_ ? segments_->count() : 1; }

  const RunPlan& plan_;
  TerminalSignals& signals_;
  LastWay& last_way_;
  HeldProgram& held_;
  Switchboard switchboard_;
  CaptureWindow window_;
  std::unique_ptr<RunMetrics> metrics_;
  MetricFacts facts_;  // of the drain's thread
  std::string whole_name_, absolute_name_, first_trace_;
  TimeNs started_ = 0;
  std::string started_utc_;
  UnstartedTrace unstarted_;
  std::optional<TracePatience> patience_;
  std::optional<store::Recorder> recorder_;  // from the drain's start to its end, of its thread
  OwnRing own_;
  OtherRoot other_root_;
  OutOfSession out_of_session_;
  IterationMeter meter_;
  AbRun ab_;
  AutoRun autopilot_;
  CpuQuota quota_;
  LastSight sight_;  // outlives the drain, which asks for its news
  TimeNs quota_followed_ = 0, root_looked_ = 0;
  std::optional<TimeNs> stolen_before_;
  std::optional<QuotaCounts> throttled_before_;
  std::optional<Triggers> triggers_;  // with --trigger; outlives the segments
  std::optional<Segments> segments_;  // outlives the drain, which calls it
  std::optional<Drain> drain_;
  std::optional<ControlServer> server_;
  std::optional<HostSampler> sampler_;
  std::optional<EnergyMeter> energy_;
  std::optional<Heartbeat> heartbeat_;
  pid_t helper_ = 0;
  std::optional<Supervision> supervision_;
};

}  // namespace wicprof::cli
