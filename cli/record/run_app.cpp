#include "cli/record/run_app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/files/output_name.h"
#include "cli/record/ab_run.h"
#include "cli/record/app_environment.h"
#include "cli/record/disassemble.h"
#include "cli/record/drain.h"
#include "cli/record/find_program.h"
#include "cli/record/finishing.h"
#include "cli/record/host_sampler.h"
#include "cli/record/modules_folder.h"
#include "cli/record/progress.h"
#include "cli/record/switchboard.h"
#include "cli/record/terminal_signals.h"
#include "cli/terminal/messages.h"
#include "protocol/control_socket.h"
#include "protocol/session.h"
#include "protocol/shell_words.h"
#include "protocol/utc_time.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kGrace = 5 * kSecond;            // time that an interrupted program gets to end by itself
constexpr TimeNs kTick = 100 * kMillisecond;      // longest pause between checks of the supervising thread
constexpr TimeNs kAttachTick = 5 * kMillisecond;  // same, while a schedule waits for the wic runtime
constexpr TimeNs kAbTick = 5 * kMillisecond;      // same, while both modes are compared: a phase takes 50 ms
constexpr TimeNs kApplyTimeout = 2 * kSecond;     // until a scheduled change counts as not applied
constexpr std::size_t kRings = 16;

// The program's name, with the characters that a session name may not contain replaced.
std::string session_name(const std::string& program) {
  std::string name = base_name(program).substr(0, 48);
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain && c != '.') c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "app");
  return name;
}

// The command as a user would type it.
std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

void remove_trace(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

// Supervises a run until the program ends: schedule, recording window, signals, time limit. One thread.
class Supervision {
 public:
  Supervision(AppProcess& app, Switchboard& switchboard, const Drain& drain, TerminalSignals& signals,
              CaptureWindow& window, AbRun& ab, const RunPlan& plan)
      : app_(app),
        switchboard_(switchboard),
        drain_(drain),
        signals_(signals),
        window_(window),
        ab_(ab),
        quiet_(plan.quiet),
        schedule_(plan.phases),
        progress_(!plan.quiet, now_ns()) {
    if (plan.time_limit > 0) limit_at_ = now_ns() + plan.time_limit;
  }

  AppEnd until_end() {
    for (;;) {
      // Check before every wait: SIGCHLD only ends the wait early.
      if (const std::optional<AppEnd> end = app_.ended()) {
        progress_.clear();
        ab_.program_ended(now_ns());
        return *end;
      }
      follow_window();
      follow_schedule();
      follow_ab();
      report_trouble();
      progress_.show(drain_.progress(), switchboard_.wanted());
      if (limit_at_ && now_ns() >= *limit_at_) end_at_time_limit();
      if (kill_at_ && now_ns() >= *kill_at_) kill_program("it did not end within 5 s");
      const std::optional<TerminalSignals::Signal> signal = signals_.wait(pause());
      if (signal && signal->number != SIGCHLD) pass_on(*signal);
    }
  }

  std::optional<int> interrupted() const { return interrupted_; }
  bool timed_out() const { return timed_out_; }
  bool ended_after_ab() const { return ended_after_ab_; }
  std::size_t unused_phases() const { return schedule_.remaining(); }

 private:
  TimeNs pause() const {
    TimeNs pause = kTick;
    if (const std::optional<TimeNs> next = window_.next()) pause = std::clamp<TimeNs>(*next - now_ns(), 0, kTick);
    if (const TimeNs attached = drain_.attached(); attached == 0) {
      if (!schedule_.finished()) pause = std::min(pause, kAttachTick);
    } else if (const std::optional<TimeNs> next = schedule_.next(attached)) {
      pause = std::min(pause, *next - now_ns());
    }
    if (ab_.running()) pause = std::min(pause, kAbTick);
    for (const std::optional<TimeNs>& end : {kill_at_, limit_at_}) {
      if (end) pause = std::min(pause, *end - now_ns());
    }
    return pause;
  }

  void follow_window() {
    const std::optional<std::string> done = window_.follow(now_ns());
    if (!done || quiet_) return;
    progress_.clear();
    note(*done);
  }

  void follow_schedule() {
    const TimeNs attached = drain_.attached();
    if (attached == 0) return;
    if (const std::optional<WantedWait> wait = schedule_.due(now_ns(), attached)) {
      sequence_ = switchboard_.request(*wait);
      apply_deadline_ = now_ns() + kApplyTimeout;
    }
    if (sequence_ && switchboard_.applied(*sequence_)) sequence_.reset();
    if (sequence_ && now_ns() >= apply_deadline_) {
      sequence_.reset();
      say("the program did not apply the scheduled change within 2 s; the request stays pending");
    }
  }

  void follow_ab() {
    if (const std::optional<std::string> news = ab_.follow(now_ns(), drain_.attached()); news && !quiet_) {
      progress_.clear();
      note(*news);
    }
    if (!ab_.ends_program() || ended_after_ab_ || interrupted_) return;
    ended_after_ab_ = true;
    kill_at_ = now_ns() + kGrace;
    kill(app_.pid(), SIGTERM);
  }

  void report_trouble() {
    if (trouble_reported_) return;
    const std::string stopped = drain_.progress().stopped;
    if (stopped.empty()) return;
    trouble_reported_ = true;
    say("RECORDING STOPPED: " + stopped + ". The program continues; its later events count as lost");
  }

  void say(const std::string& text) {
    progress_.clear();
    warn(text);
  }

  void pass_on(const TerminalSignals::Signal& signal) {
    if (interrupted_) {
      if (signal.number == SIGINT) kill_program("interrupted again");
      return;
    }
    interrupted_ = signal.number;
    kill_at_ = now_ns() + kGrace;
    progress_.clear();
    note(fmt::format("{}: ending the program; the trace is kept", strsignal(signal.number)));
    if (!signal.from_terminal) kill(app_.pid(), signal.number);
  }

  void end_at_time_limit() {
    limit_at_.reset();
    timed_out_ = true;
    kill_at_ = now_ns() + kGrace;
    say("the program has reached its time limit; ending it");
    kill(app_.pid(), SIGTERM);
  }

  void kill_program(const char* why) {
    kill_at_.reset();
    say(fmt::format("killing the program: {}", why));
    kill(app_.pid(), SIGKILL);
  }

  AppProcess& app_;
  Switchboard& switchboard_;
  const Drain& drain_;
  TerminalSignals& signals_;
  CaptureWindow& window_;
  AbRun& ab_;
  bool quiet_;
  Schedule schedule_;
  ProgressLine progress_;
  std::optional<std::uint32_t> sequence_;  // of the scheduled change that is not applied yet
  TimeNs apply_deadline_ = 0;
  std::optional<int> interrupted_;
  std::optional<TimeNs> kill_at_, limit_at_;
  bool timed_out_ = false;
  bool ended_after_ab_ = false;
  bool trouble_reported_ = false;
};

}  // namespace

Result<RunOutcome> run_app(const RunPlan& plan) {
  const Result<std::string> program = find_program(plan.words.front());
  if (!program) return program.error();

  TerminalSignals signals;
  SessionOptions options;
  options.name = plan.name.empty() ? session_name(*program) : plan.name;
  options.number_if_taken = plan.name.empty();
  options.app = base_name(*program);
  options.ring_count = kRings;
  options.ring_capacity = std::bit_floor(std::max<std::size_t>(plan.buffer_bytes / kRings, 2 * kMaxEventSize));
  const Result<SessionOwner> session = SessionOwner::create(options);
  if (!session) return session.error();
  SessionHeader& header = session->map().header();
  const std::string name = header.name;
  Switchboard switchboard(session->map().control());
  if (!plan.phases.empty()) switchboard.start_with(plan.phases.front().wait);
  const CapturePlan& capture = plan.capture;
  CaptureWindow window(session->map().control(), capture);

  std::optional<ModulesFolder> modules;
  if (capture.collects("pcsampling")) {
    if (Result<ModulesFolder> made = ModulesFolder::make(session->path())) {
      modules.emplace(*std::move(made));
    } else {
      warn(made.error().message + "; samples of program counters are recorded without their instructions");
    }
  }
  int log = -1;
  if (!plan.log.empty()) {
    log = open(plan.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (log < 0) return unavailable(fmt::format("cannot write {}: {}", plan.log, std::strerror(errno)));
  }
  Result<AppProcess> app =
      AppProcess::hold({*program, plan.words,
                        app_environment(session->path(), capture.collector, !capture.ranges.empty(),
                                        modules ? modules->path() : std::string()),
                        signals.previous_mask(), log});
  if (log >= 0) close(log);
  if (!app) return app.error();
  header.app_pid = app->pid();

  const std::string pattern = plan.output.empty() ? options.app + ".%p.wicprof" : plan.output;
  const Result<std::string> trace = expand_output_name(pattern, app->pid());
  if (!trace) return trace.error();
  const TimeNs started = now_ns();
  std::map<std::string, std::string> meta = capture_meta(capture);
  meta.insert({{"app", options.app},
               {"command", command_line(plan.words)},
               {"session", name},
               {"pid", std::to_string(app->pid())},
               {"host", host_name()},
               {"started_ns", std::to_string(started)},
               {"started_utc", utc_time()},
               {"mode", std::string(mode_name(switchboard.wanted().mode))},
               {"schedule", plan.schedule_text},
               {"wic_prof_version", WICPROF_VERSION}});
  store::RetentionPlan retention;
  retention.keep_last = capture.keep_last;
  retention.ranges = capture.ranges;
  Result<store::Recorder> recorder = store::Recorder::create(
      {*trace, plan.overwrite, std::move(meta), capture.max_bytes, std::move(retention), started});
  if (!recorder) return recorder.error();

  const auto give_up = [&](const Error& error) {
    (void)recorder->finish();
    remove_trace(*trace);
    return error;
  };
  OwnRing own;
  IterationMeter meter;
  AbRun ab(switchboard, meter);
  if (plan.ab) (void)ab.begin(*plan.ab);
  Drain drain(session->map(), session->path(), *recorder, own.ring(), meter);
  const auto status = [&] {
    const store::RecorderProgress progress = drain.progress();
    const WantedWait wanted = switchboard.wanted();
    SessionStatus s;
    s.name = name;
    s.app = options.app;
    s.output = std::filesystem::absolute(*trace).string();
    s.app_pid = app->pid();
    s.tool_pid = getpid();
    s.mode = wanted.mode;
    s.strategy = wanted.strategy;
    s.events = progress.events;
    s.waits = progress.waits;
    s.lost = progress.lost;
    s.runtime_attached = attached_runtimes(session->map().control()) != 0;
    s.sites = switchboard.site_names();
    s.stopped = progress.stopped;
    s.ab = ab.doing();
    s.ab_running = ab.running();
    return s;
  };
  const auto toggle = [&](const ToggleRequest& request) -> Result<ToggleReply> {
    if (ab.running()) return unavailable("this run compares both modes now; toggle once the comparison is over");
    return switchboard.toggle(request);
  };
  const auto begin_ab = [&](const AbRequest& request) -> Result<> {
    if (drain.attached() == 0) {
      return unavailable("this app has no wic runtime (or has not started it yet), so there is nothing to compare");
    }
    AbPlan asked;
    // The schedule counts its time from the attachment.
    asked.time = request.time + (now_ns() - drain.attached());
    asked.precision = request.precision;
    asked.seed = static_cast<std::uint64_t>(now_ns());
    asked.park = {Mode::park, request.strategy};
    asked.then = switchboard.wanted();
    return ab.begin(asked);
  };
  const ControlHandler handler{status, toggle, begin_ab};
  const Result<ControlServer> server = ControlServer::start(
      session->socket_path(), [&](const std::string& line) { return answer_request(handler, line); });
  if (!server) return give_up(server.error());
  std::optional<HostSampler> sampler;
  if (capture.host) sampler.emplace(session->map(), app->pid(), own.sink());
  const std::optional<TimeNs> stolen_before = capture.host ? stolen_ns() : std::nullopt;
  window.start(now_ns());
  if (capture.timed()) {
    recorder->set_capture_window(window.from(), window.until());
    recorder->set_meta("capture_from_ns", std::to_string(window.from()));
    if (capture.duration != 0) recorder->set_meta("capture_until_ns", std::to_string(window.until()));
  }
  drain.start();  // until finish(), only the drain uses the recorder
  if (const Result<> begun = app->start(); !begun) {
    sampler.reset();
    drain.finish();
    return give_up(begun.error());
  }
  if (!plan.quiet) {
    note(fmt::format("session '{}', recording {} (pid {}) to {}", name, options.app, app->pid(), *trace));
  }

  if (plan.started) plan.started(name);

  Supervision supervision(*app, switchboard, drain, signals, window, ab, plan);
  RunOutcome outcome;
  outcome.trace = *trace;
  outcome.end = supervision.until_end();
  outcome.interrupted = supervision.interrupted();
  outcome.timed_out = supervision.timed_out();
  outcome.ended_after_ab = supervision.ended_after_ab();
  switchboard.close();
  sampler.reset();
  drain.finish();
  if (const std::optional<TimeNs> stolen = stolen_ns(); stolen && stolen_before) {
    recorder->set_stat(store::Stat::steal_ns, "",
                       static_cast<std::uint64_t>(std::max<TimeNs>(*stolen - *stolen_before, 0)));
  }
  if (const std::size_t unused = supervision.unused_phases(); unused > 0) {
    warn(drain.attached() == 0
             ? std::string("the schedule was not applied: the program has no wic runtime")
             : fmt::format("the program ended before {} of the schedule's changes; let it run longer", unused));
  }
  if (const std::optional<Mode> first = drain.first_mode()) recorder->set_meta("mode", std::string(mode_name(*first)));
  for (const auto& [key, value] : ab.meta()) {
    recorder->set_meta(key, value);
    outcome.compared = outcome.compared || (key == "ab_phases" && !value.empty());
  }
  recorder->set_meta("ended_ns", std::to_string(now_ns()));
  if (modules) record_instructions(*recorder, modules->path());
  recorder->set_meta("app_status", std::to_string(outcome.end.status));
  if (outcome.end.signal) recorder->set_meta("app_signal", std::to_string(*outcome.end.signal));
  const std::string stopped = recorder->progress().stopped;
  Finishing finishing(signals, now_ns() - started, plan.quiet);
  const store::FinishWatch watch = [&](auto step, auto part) { return finishing.goes_on(step, part); };
  if (const Result<> finished = recorder->finish(watch); !finished) {
    outcome.recording = finished.error();
  } else if (!stopped.empty()) {
    outcome.recording = unavailable(stopped);
  }
  return outcome;
}

}  // namespace wicprof::cli
