#include "cli/record/run_app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "cli/files/output_file.h"
#include "cli/files/output_name.h"
#include "cli/metrics/run_metrics.h"
#include "cli/record/ab_run.h"
#include "cli/record/app_environment.h"
#include "cli/record/buffer_size.h"
#include "cli/record/cgroup.h"
#include "cli/record/child_processes.h"
#include "cli/record/cpu_quota.h"
#include "cli/record/disassemble.h"
#include "cli/record/drain.h"
#include "cli/record/find_program.h"
#include "cli/record/finishing.h"
#include "cli/record/guarded.h"
#include "cli/record/heartbeat.h"
#include "cli/record/host_sampler.h"
#include "cli/record/last_way.h"
#include "cli/record/loadable.h"
#include "cli/record/modules_folder.h"
#include "cli/record/other_root.h"
#include "cli/record/out_of_session.h"
#include "cli/record/segments.h"
#include "cli/record/sender.h"
#include "cli/record/stop_signal.h"
#include "cli/record/supervision.h"
#include "cli/record/switchboard.h"
#include "cli/record/terminal_signals.h"
#include "cli/record/trace_patience.h"
#include "cli/sessions/place.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "protocol/control_socket.h"
#include "protocol/limit_words.h"
#include "protocol/session.h"
#include "protocol/shell_words.h"
#include "protocol/utc_time.h"

namespace wicprof::cli {

namespace {

/// How often to look whether the program has moved to another group with a quota of its own.
constexpr TimeNs kFollowQuota = 50 * kMillisecond;

/// A second request to end counts as unheard once the first has waited so long: a thread waits for a disk, say. Longer
/// than a message to a slow terminal takes.
constexpr std::size_t kRequests = 2;
constexpr TimeNs kUnheardPatience = 2 * kSecond + 500 * kMillisecond;

constexpr char kSessionCut[] =
    "the session's file was truncated while recording: processes that started later may be missing";

/// How often to look whether the program has moved to another root.
constexpr TimeNs kLookAtRoot = 10 * kMillisecond;

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

void remove_trace(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

// Removes the trace of a program that was never started.
class UnstartedTrace {
 public:
  explicit UnstartedTrace(std::string path) : name_(std::move(path)) {}
  UnstartedTrace(const UnstartedTrace&) = delete;
  UnstartedTrace& operator=(const UnstartedTrace&) = delete;
  ~UnstartedTrace() {
    if (!path_.empty()) remove_trace(path_);
  }
  void created() { path_ = name_; }
  void program_started() { path_.clear(); }

 private:
  std::string name_, path_;  // path_: empty while there is nothing to remove
};

// Without this check, each lack of a descriptor would show as another error, of SQLite or of the session.
Result<> check_descriptors() {
  constexpr std::size_t kNeeded = 24;  // session, trace with its log, ballast, pipes, socket, some clients
  std::vector<int> opened;
  int error = 0;
  while (opened.size() < kNeeded && error == 0) {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      error = errno;
    } else {
      opened.push_back(fd);
    }
  }
  for (const int fd : opened) close(fd);
  if (error == 0) return ok();
  return unavailable(fmt::format("cannot open the {} files that a recording needs: {}; raise ulimit -n", kNeeded,
                                 std::strerror(error)));
}

// Until the program starts, an exception passes through; afterwards nothing does.
Result<RunOutcome> record(const RunPlan& plan, TerminalSignals& signals) {
  const auto last_way = std::make_shared<LastWay>(plan.stop_signal == kNoSignal);
  signals.watch({kRequests, kUnheardPatience, [last_way](int signal) { last_way->take(signal); },
                 [last_way] { last_way->warn(); }});
  if (const Result<> enough = check_descriptors(); !enough) return enough.error();
  if (plan.wait_for_all) {
    if (const Result<std::vector<pid_t>> listed = child_processes(); !listed) return listed.error();
  }
  const Subreaper subreaper(plan.wait_for_all);
  const Result<std::string> program = find_program(plan.words.front());
  if (!program) return program.error();

  SessionOptions options;
  options.name = plan.name.empty() ? session_name(*program) : plan.name;
  options.number_if_taken = plan.name.empty();
  options.app = base_name(*program);
  const BufferSize buffer =
      plan.buffer_bytes ? BufferSize{*plan.buffer_bytes, {}} : fitting_buffer(cgroup_memory_left(getpid()));
  if (!buffer.note.empty() && !plan.quiet) note(buffer.note);
  options.rings = divide_among_rings(buffer.bytes);
  const Result<SessionOwner> session = SessionOwner::create(options);
  if (!session) return session.error();
  last_way->session(session->path());
  SessionHeader& header = session->map().header();
  const std::string name = header.name;
  Switchboard switchboard(session->map());
  if (!plan.phases.empty()) switchboard.start_with(plan.phases.front().wait, plan.side);
  const CapturePlan& capture = plan.capture;
  CaptureWindow window(session->map().control(), capture);
  std::unique_ptr<RunMetrics> metrics;
  MetricFacts facts;
  if (plan.metrics) {
    facts.session = name;
    facts.app = options.app;
    Result<std::unique_ptr<RunMetrics>> serving = RunMetrics::serve(*plan.metrics, facts);
    if (!serving) return serving.error();
    metrics = *std::move(serving);
  }

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
    const Result<int> opened = open_log({plan.log, plan.overwrite});
    if (!opened) return opened.error();
    log = *opened;
  }
  std::string mpi_program;
  if (capture.mpi != MpiCapture::none) mpi_program = mpi_program_in(plan.words);
  if (capture.mpi == MpiCapture::always && mpi_program.empty()) mpi_program = *program;
  AppEnvironment environment = app_environment(*program, session->path(), capture.collector, !capture.ranges.empty(),
                                               modules ? modules->path() : std::string(), mpi_program);
  Result<AppProcess> app =
      AppProcess::hold({*program, plan.words, std::move(environment.entries), &signals.previous(), log});
  if (log >= 0) close(log);
  if (!app) return app.error();
  header.app_pid = app->pid();
  signals.know_program(
      [app = app->pid(), path = session->path()](pid_t sender) { return is_of_program(sender, app, path); });

  const std::string pattern = plan.output.empty() ? literal_name(options.app) + ".%p.wicprof" : plan.output;
  const Result<std::string> whole_name = expand_output_name(pattern, app->pid());
  if (!whole_name) return whole_name.error();
  const bool in_segments = capture.segments.wanted();
  if (in_segments) {
    if (const Result<> cleared = clear_segments(*whole_name, plan.overwrite); !cleared) return cleared.error();
  }
  const auto name_of = [&](const std::string& path, unsigned segment) {
    return in_segments ? segment_name(path, segment) : path;
  };
  const std::string first_trace = name_of(*whole_name, 1);
  last_way->trace(first_trace);
  const TimeNs started = now_ns();
  const std::string started_utc = utc_time();
  std::map<std::string, std::string> meta = capture_meta(capture);
  meta.insert({{"app", options.app},
               {"command", shell_command(plan.words)},
               {"session", name},
               {"pid", std::to_string(app->pid())},
               {"host", host_name()},
               {"started_ns", std::to_string(started)},
               {"started_utc", started_utc},
               {"mode", std::string(mode_name(switchboard.wanted().mode))},
               {"schedule", plan.schedule_text},
               {"wic_prof_version", WICPROF_VERSION}});
  UnstartedTrace unstarted(first_trace);
  store::RetentionPlan retention;
  retention.keep_last = capture.keep_last;
  retention.ranges = capture.ranges;
  TracePatience patience(first_trace, signals);
  Result<store::Recorder> recorder = store::Recorder::create(
      {first_trace, plan.overwrite, std::move(meta), capture.max_bytes, std::move(retention), started,
       [&](const std::string& holder, TimeNs waited) { return patience.goes_on(holder, waited); },
       metrics ? &metrics->tally() : nullptr});
  if (!recorder) return recorder.error();

  unstarted.created();
  std::error_code unknown_folder;  // of a removed working folder
  const std::string absolute_name = std::filesystem::absolute(*whole_name, unknown_folder).string();
  OwnRing own;
  for (const std::string& lost : environment.not_seen) {
    warn(lost + "; the program runs as without wic-prof");
    own.sink().loss(LossSource::cupti, 1, lost);
  }
  OtherRoot other_root(std::move(environment.files), own.sink());
  OutOfSession out_of_session;
  const auto look_at = [&](pid_t process) {
    other_root.look(process);
    out_of_session.look(process);
  };
  IterationMeter meter;
  AbRun ab(switchboard, meter, app->pid());
  if (plan.ab) (void)ab.begin(*plan.ab);
  const std::optional<TimeNs> stolen_before = capture.host ? stolen_ns() : std::nullopt;
  CpuQuota quota(app->pid());
  TimeNs quota_followed = 0, root_looked = 0;
  const std::optional<QuotaCounts> throttled_before = capture.host ? quota.counts() : std::nullopt;
  const auto throttled_so_far = [&]() -> std::optional<QuotaCounts> {
    std::optional<QuotaCounts> throttled = throttled_before ? quota.counts() : std::nullopt;
    if (throttled) *throttled -= *throttled_before;
    return throttled;
  };
  const auto describe_steal = [&](store::Recorder& of) {
    if (const std::optional<TimeNs> stolen = stolen_ns(); stolen && stolen_before) {
      of.set_stat(store::Stat::steal_ns, "", static_cast<std::uint64_t>(std::max<TimeNs>(*stolen - *stolen_before, 0)));
    }
    const std::optional<QuotaCounts> throttled = throttled_so_far();
    if (!throttled) return;
    of.set_stat(store::Stat::throttled_periods, "", throttled->periods);
    of.set_stat(store::Stat::throttled_ns, "",
                static_cast<std::uint64_t>(std::max<TimeNs>(throttled->throttled_ns, 0)));
  };
  const auto publish_metrics = [&](TimeNs now) {
    facts.device_mode = switchboard.wanted().mode;
    facts.host_mode = host_wait(session->map().control()).mode;
    facts.progress = recorder->progress();
    facts.losses = recorder->losses();
    if (facts.progress.stopped.empty()) facts.trace_bytes = recorder->file_bytes();
    if (const std::optional<QuotaCounts> throttled = throttled_so_far()) {
      facts.throttled_periods = throttled->periods;
      facts.throttled_ns = static_cast<std::uint64_t>(std::max<TimeNs>(throttled->throttled_ns, 0));
    }
    metrics->publish(facts, now);
  };
  std::optional<Segments> segments;  // outlives the drain, which calls it
  Drain drain(session->map(), session->path(), *recorder, own.ring(), meter, [&] {
    if (segments) segments->follow(*recorder, now_ns());
    const TimeNs now = now_ns();
    if (now - root_looked > kLookAtRoot) {
      root_looked = now;
      look_at(app->pid());
    }
    if (metrics && metrics->is_due(now)) publish_metrics(now);
    if (capture.host && now - quota_followed > kFollowQuota) {
      quota_followed = now;
      quota.follow();
    }
  });
  if (in_segments) {
    segments.emplace(
        capture.segments, *whole_name,
        [&](store::Recorder& ending) {
          describe_steal(ending);
          if (const std::optional<Mode> first = drain.first_mode(); first && segments->count() == 1) {
            ending.set_meta("mode", std::string(mode_name(*first)));
          }
        },
        [&](store::Recorder& ended, const store::FinishWatch& watch) {
          if (modules) record_instructions(ended, modules->path());
          return ended.finish(watch);
        });
  }
  const auto status = [&] {
    const store::RecorderProgress progress = drain.progress();
    const WantedWait wanted = switchboard.wanted();
    SessionStatus s;
    s.name = name;
    s.app = options.app;
    s.output = name_of(unknown_folder ? *whole_name : absolute_name, segments ? segments->count() : 1);
    s.app_pid = app->pid();
    s.tool_pid = getpid();
    s.mode = wanted.mode;
    s.strategy = wanted.strategy;
    const WantedWait of_host = host_wait(session->map().control());
    s.host_mode = of_host.mode;
    s.host_strategy = of_host.strategy;
    s.events = progress.events;
    s.waits = progress.waits;
    s.lost = progress.lost;
    s.runtime_attached = attached_processes(session->map().control()) != 0;
    s.unreached = switchboard.unreached();
    s.unrecorded = header.rings_refused.load(std::memory_order_relaxed);
    s.sites = switchboard.site_names();
    s.stopped = progress.stopped;
    s.ab = ab.doing();
    s.ab_running = ab.running();
    s.ab_side = switchboard.side_with_waits();
    s.started = started;
    s.started_utc = started_utc;
    const Place place = place_of_this_process();
    s.folder = place.folder;
    s.terminal = place.terminal;
    s.user = place.user;
    return s;
  };
  const auto toggle = [&](const ToggleRequest& request) -> Result<ToggleReply> {
    if (ab.running()) return unavailable("this run compares both modes now; toggle once the comparison is over");
    return switchboard.toggle(request);
  };
  const auto begin_ab = [&](const AbRequest& request) -> Result<> {
    if (in_segments)
      return unavailable("a comparison needs one trace, and this run is recorded in segments (--segment)");
    if (drain.attached() == 0) {
      return unavailable("this app has no wic runtime (or has not started it yet), so there is nothing to compare");
    }
    AbPlan asked;
    // The schedule counts its time from the attachment.
    asked.time = request.time + (now_ns() - drain.attached());
    asked.precision = request.precision;
    asked.seed = static_cast<std::uint64_t>(now_ns());
    asked.park = {Mode::park, request.strategy};
    asked.side = request.side;
    asked.then = request.side == WaitSide::host ? host_wait(session->map().control()) : switchboard.wanted();
    return ab.begin(asked);
  };
  const ControlHandler handler{status, toggle, begin_ab};
  const Result<ControlServer> server = ControlServer::start(
      session->socket_path(), [&](const std::string& line) { return answer_request(handler, line); },
      session->memory());
  if (!server) return server.error();
  std::optional<HostSampler> sampler;
  if (capture.host) sampler.emplace(session->map(), app->pid(), own.sink(), look_at);
  window.start(now_ns());
  if (capture.timed()) {
    recorder->set_capture_window(window.from(), window.until());
    recorder->set_meta("capture_from_ns", std::to_string(window.from()));
    if (capture.duration != 0) recorder->set_meta("capture_until_ns", std::to_string(window.until()));
  }
  if (segments) segments->set_window(window.from(), window.until());
  std::optional<Heartbeat> heartbeat(std::in_place, session->map().control());
  drain.start();  // until finish(), only the drain uses the recorder
  if (const Result<> begun = app->start(); !begun) {
    sampler.reset();
    drain.finish();
    return begun.error();
  }
  last_way->started(app->pid());
  unstarted.program_started();
  if (!plan.quiet) {
    note(fmt::format("session '{}', recording {} (pid {}) to {}{}", name, options.app, app->pid(), first_trace,
                     in_segments ? " and further segments" : ""));
  }
  if (metrics && (!plan.quiet || plan.metrics->picks_port())) note("metrics at " + metrics->where());

  pid_t helper = 0;
  if (plan.started) guarded("showing the run", [&] { helper = plan.started(name); });

  Supervision supervision(*app, session->map(), switchboard, drain, signals, window, ab, other_root, plan, helper);
  RunOutcome outcome;
  const std::optional<AppEnd> end = supervision.until_end();
  outcome.end = end.value_or(AppEnd{});
  outcome.left_running = !end;
  outcome.interrupted = supervision.interrupted();
  outcome.timed_out = supervision.timed_out();
  outcome.ended_as_planned = supervision.ended_as_planned();
  last_way->ended(outcome.status());
  patience.program_ended();
  switchboard.close();
  heartbeat.reset();  // what is left of the program waits in its own way
  sampler.reset();
  drain.finish();
  if (metrics) metrics->end();
  if (const std::string news = other_root.news(); !news.empty()) warn(news);
  outcome.out_of_session = out_of_session.why();
  if (session->is_file_cut()) recorder->set_stat(store::Stat::ring_corrupt, kSessionCut, 1);
  if (segments) {
    outcome.segments = segments->count();
    outcome.first_segment = first_trace;
  }
  outcome.trace = name_of(*whole_name, std::max(outcome.segments, 1u));
  guarded("describing the run in the trace", [&] {
    if (const std::string failed = drain.failure(); !failed.empty())
      recorder->set_stat(store::Stat::store_stopped, failed, 1);
    describe_steal(*recorder);
    outcome.attached = drain.attached() != 0;
    outcome.side = switchboard.side_with_waits();
    outcome.host_waits = switchboard.has_host_waits();
    const bool failed = end && end->status != 0 && !outcome.ended_as_planned && !outcome.interrupted;
    const bool of_host = plan.ab && plan.ab->side == WaitSide::host;
    const bool of_either = plan.ab && !plan.ab->side;
    const char* const no_runtime =
        failed      ? "failed before it started a wic runtime"
        : of_host   ? "has no host thread that waited in a call of CUDA which wic-prof records"
        : of_either ? "has no wic runtime, and no host thread that waited in a call of CUDA which wic-prof records"
                    : "has no wic runtime";
    if (const std::size_t unused = supervision.unused_phases(); unused > 0) {
      warn(!outcome.attached
               ? fmt::format("the schedule was not applied: the program {}", no_runtime)
               : fmt::format("the program ended before {} of the schedule's changes; let it run longer", unused));
    }
    if (const std::optional<Mode> first = drain.first_mode(); first && outcome.segments <= 1)
      recorder->set_meta("mode", std::string(mode_name(*first)));
    for (const auto& [key, value] : ab.meta()) {
      recorder->set_meta(key, value);
      outcome.compared = outcome.compared || (key == "ab_phases" && !value.empty());
    }
    if (plan.ab && !outcome.compared) {
      warn(fmt::format("nothing was compared: the program {}",
                       outcome.attached ? "ended before the first phase; let it run longer" : no_runtime));
    }
    if (const std::int64_t wake = session->map().control().host_wake_ns.load(std::memory_order_relaxed); wake > 0)
      recorder->set_meta("host_wake_ns", std::to_string(wake));
    recorder->set_meta("ended_ns", std::to_string(now_ns()));
    if (!outcome.left_running) recorder->set_meta("app_status", std::to_string(outcome.end.status));
    if (outcome.end.signal) recorder->set_meta("app_signal", std::to_string(*outcome.end.signal));
  });
  if (modules) guarded("disassembling the sampled functions", [&] { record_instructions(*recorder, modules->path()); });
  outcome.recording = unavailable("the trace could not be completed, for the reason above");
  guarded("completing the trace", [&] {
    const std::string stopped = drain.failure().empty() ? recorder->progress().stopped : drain.failure();
    Finishing finishing(signals, now_ns() - started, plan.quiet);
    const store::FinishWatch watch = [&](auto step, auto part) { return finishing.goes_on(step, part); };
    const Result<> earlier =
        segments ? segments->finish(now_ns(), [&] { return watch(store::FinishStep::summarising, std::nullopt); })
                 : Result<>(ok());
    if (const Result<> finished = recorder->finish(watch); !finished) {
      outcome.recording = finished.error();
    } else if (!stopped.empty()) {
      outcome.recording = unavailable(stopped);
    } else if (!earlier) {
      outcome.recording = earlier.error();
    } else {
      outcome.recording.reset();
    }
  });
  outcome.lost = recorder->lost();
  outcome.trace = recorder->path();
  last_way->ended(outcome.status());
  if (const std::string news = recorder->progress().news; !news.empty()) warn(news);
  return outcome;
}

}  // namespace

std::string RunOutcome::failure() const {
  if (ended_as_planned || left_running || end.status == 0) return {};
  if (end.signal) return fmt::format("was killed by signal {} ({})", *end.signal, strsignal(*end.signal));
  return fmt::format("ended with status {}", end.status);
}

int RunOutcome::status() const {
  const int of_program = ended_as_planned || left_running ? static_cast<int>(kDone) : end.status;
  return of_program == kDone && lost ? static_cast<int>(kUnavailable) : of_program;
}

Result<RunOutcome> run_app(const RunPlan& plan, TerminalSignals& signals) try {
  return record(plan, signals);
} catch (const std::bad_alloc&) {
  return unavailable("cannot start the recording: out of memory; " + memory_cure());
} catch (const std::exception& e) {
  return unavailable(fmt::format("cannot start the recording: {}; raise {}", e.what(), thread_limits()));
}

Result<RunOutcome> run_app(const RunPlan& plan) {
  TerminalSignals signals;
  return run_app(plan, signals);
}

}  // namespace wicprof::cli
