#include "cli/record/recording_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/files/output_name.h"
#include "cli/record/disassemble.h"
#include "cli/record/finishing.h"
#include "cli/record/guarded.h"
#include "cli/sessions/place.h"
#include "cli/terminal/messages.h"
#include "protocol/launch.h"
#include "protocol/notice.h"
#include "protocol/shell_words.h"
#include "protocol/utc_time.h"

namespace wicprof::cli {

namespace {

/// How often to look whether the program has moved to another group with a quota of its own.
constexpr TimeNs kFollowQuota = 50 * kMillisecond;
/// How often to look whether the program has moved to another root.
constexpr TimeNs kLookAtRoot = 10 * kMillisecond;

constexpr char kSessionCut[] =
    "the session's file was truncated while recording: processes that started later may be missing";

/// A wait of that length is a hang, for the record.
TimeNs shortest_hang(const RunPlan& plan) {
  TimeNs shortest = longest_wait();
  for (const TriggerRule& rule : plan.capture.segments.triggers.rules) {
    if (rule.kind == TriggerRule::Kind::stuck) shortest = std::min(shortest, rule.time);
  }
  return shortest;
}

}  // namespace

UnstartedTrace::~UnstartedTrace() {
  if (path_.empty()) return;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path_ + suffix).c_str());
}

RecordingRun::RecordingRun(const RunPlan& plan, TerminalSignals& signals, LastWay& last_way, HeldProgram& held)
    : plan_(plan),
      signals_(signals),
      last_way_(last_way),
      held_(held),
      switchboard_(held.session.map()),
      window_(held.control(), plan.capture),
      other_root_(std::move(held.environment.files), own_.sink()),
      ab_(switchboard_, meter_, held.process->pid()),
      autopilot_(switchboard_, meter_, own_.sink(), held.process->pid()),
      quota_(held.process->pid()),
      sight_(held.session.map().open_work(), static_cast<std::uint32_t>(held.process->pid()),
             read_launch(std::getenv).rank >= 0, shortest_hang(plan)) {
  if (!plan.phases.empty()) switchboard_.start_with(plan.phases.front().wait, plan.side);
}

std::string RecordingRun::name_of(const std::string& path, unsigned segment) const {
  return in_segments() ? segment_name(path, segment) : path;
}

Result<> RecordingRun::begin() {
  if (const Result<> opened = open_metrics(); !opened) return opened;
  if (const Result<> opened = open_trace(); !opened) return opened;
  for (const std::string& lost : held_.environment.not_seen) {
    warn(lost + "; the program runs as without wic-prof");
    own_.sink().loss(LossSource::cupti, 1, lost);
  }
  if (plan_.ab) (void)ab_.begin(*plan_.ab);
  if (plan_.autopilot) (void)autopilot_.begin(*plan_.autopilot);
  if (plan_.capture.host) {
    stolen_before_ = stolen_ns();
    throttled_before_ = quota_.counts();
  }
  prepare_drain();
  if (const Result<> opened = open_control(); !opened) return opened;
  return start_program();
}

Result<> RecordingRun::open_metrics() {
  if (!plan_.metrics.wanted()) return ok();
  facts_.session = held_.header().name;
  facts_.app = held_.app;
  Result<std::unique_ptr<RunMetrics>> started = RunMetrics::start(plan_.metrics, facts_);
  if (!started) return started.error();
  metrics_ = *std::move(started);
  return ok();
}

Result<> RecordingRun::open_trace() {
  const std::string pattern = plan_.output.empty() ? usual_trace_name(held_.app) : plan_.output;
  const Result<std::string> whole_name = expand_output_name(pattern, held_.process->pid());
  if (!whole_name) return whole_name.error();
  whole_name_ = *whole_name;
  if (in_segments()) {
    if (const Result<> cleared = clear_segments(whole_name_, plan_.overwrite); !cleared) return cleared;
  }
  first_trace_ = name_of(whole_name_, 1);
  last_way_.trace(first_trace_);
  started_ = now_ns();
  started_utc_ = utc_time();
  store::RetentionPlan retention;
  retention.keep_last = plan_.capture.keep_last;
  retention.keep_bytes = plan_.capture.max_bytes / 2;  // the rest is for indexes and summaries
  retention.ranges = plan_.capture.ranges;
  patience_.emplace(first_trace_, signals_);
  Result<store::Recorder> recorder = store::Recorder::create(
      {first_trace_, plan_.overwrite, meta(), plan_.capture.max_bytes, std::move(retention), started_,
       [this](const std::string& holder, TimeNs waited) { return patience_->goes_on(holder, waited); },
       metrics_ ? &metrics_->tally() : nullptr});
  if (!recorder) return recorder.error();
  recorder_.emplace(*std::move(recorder));
  unstarted_.created(first_trace_);
  std::error_code unknown_folder;  // of a removed working folder
  const std::string absolute = std::filesystem::absolute(whole_name_, unknown_folder).string();
  absolute_name_ = unknown_folder ? whole_name_ : absolute;
  return ok();
}

std::map<store::MetaKey, std::string> RecordingRun::meta() const {
  std::map<store::MetaKey, std::string> meta = capture_meta(plan_.capture);
  meta.insert({{store::MetaKey::app, held_.app},
               {store::MetaKey::command, shell_command(plan_.words)},
               {store::MetaKey::session, held_.header().name},
               {store::MetaKey::pid, std::to_string(held_.process->pid())},
               {store::MetaKey::host, host_name()},
               {store::MetaKey::started_ns, std::to_string(started_)},
               {store::MetaKey::started_utc, started_utc_},
               {store::MetaKey::mode, std::string(mode_name(switchboard_.wanted().mode))},
               {store::MetaKey::schedule, plan_.schedule_text},
               {store::MetaKey::wic_prof_version, WICPROF_VERSION}});
  if (plan_.attach) meta.insert({store::MetaKey::attached, "1"});
  return meta;
}

void RecordingRun::prepare_drain() {
  const SegmentPlan& segments = plan_.capture.segments;
  if (segments.triggers.wanted()) triggers_.emplace(segments.triggers, held_.session.map().open_work());
  Triggers* const triggers = triggers_ ? &*triggers_ : nullptr;
  drain_.emplace(held_.session.map(), held_.session.path(), *recorder_, own_.ring(), meter_, triggers,
                 [this] { each_round(); });
  if (!in_segments()) return;
  segments_.emplace(
      segments, whole_name_, triggers,
      [this](store::Recorder& ending) {
        describe_steal(ending);
        if (const std::optional<Mode> first = drain_->first_mode(); first && segments_->count() == 1) {
          ending.set_meta(store::MetaKey::mode, std::string(mode_name(*first)));
        }
        if (const std::string text = sight_.look(now_ns()); !text.empty())
          ending.set_meta(store::MetaKey::open_work, text);
        return triggers_ ? triggers_->describe(ending, "", now_ns()) : std::string();
      },
      [this](store::Recorder& ended, const store::FinishWatch& watch) {
        if (held_.modules) record_instructions(ended, held_.modules->path());
        return ended.finish(watch);
      });
}

void RecordingRun::each_round() {
  if (triggers_) triggers_->look(now_ns());
  if (segments_) segments_->follow(*recorder_, now_ns());
  keep_sight();
  const TimeNs now = now_ns();
  if (now - root_looked_ > kLookAtRoot) {
    root_looked_ = now;
    look_at(held_.process->pid());
  }
  if (metrics_ && metrics_->is_due(now)) publish_metrics(now);
  if (plan_.capture.host && now - quota_followed_ > kFollowQuota) {
    quota_followed_ = now;
    quota_.follow();
  }
}

/// At once: whoever ends a whole job may kill wic-prof a second later.
void RecordingRun::keep_sight() {
  if (const std::optional<std::string> text = sight_.news()) recorder_->set_meta(store::MetaKey::open_work, *text);
}

void RecordingRun::look_at(pid_t process) {
  if (plan_.attach) return;  // its processes have not been given a session
  other_root_.look(process);
  out_of_session_.look(process);
}

std::optional<QuotaCounts> RecordingRun::throttled_so_far() const {
  std::optional<QuotaCounts> throttled = throttled_before_ ? quota_.counts() : std::nullopt;
  if (throttled) *throttled -= *throttled_before_;
  return throttled;
}

void RecordingRun::describe_steal(store::Recorder& of) const {
  if (const std::optional<TimeNs> stolen = stolen_ns(); stolen && stolen_before_) {
    of.set_stat(store::Stat::steal_ns, "", static_cast<std::uint64_t>(std::max<TimeNs>(*stolen - *stolen_before_, 0)));
  }
  const std::optional<QuotaCounts> throttled = throttled_so_far();
  if (!throttled) return;
  of.set_stat(store::Stat::throttled_periods, "", throttled->periods);
  of.set_stat(store::Stat::throttled_ns, "", static_cast<std::uint64_t>(std::max<TimeNs>(throttled->throttled_ns, 0)));
}

void RecordingRun::publish_metrics(TimeNs now) {
  facts_.device_mode = switchboard_.wanted().mode;
  facts_.host_mode = host_wait(held_.control()).mode;
  facts_.autopilot = autopilot_.facts();
  facts_.progress = recorder_->progress();
  facts_.losses = recorder_->losses();
  if (facts_.progress.stopped.empty()) facts_.trace_bytes = recorder_->file_bytes();
  if (const std::optional<QuotaCounts> throttled = throttled_so_far()) {
    facts_.throttled_periods = throttled->periods;
    facts_.throttled_ns = static_cast<std::uint64_t>(std::max<TimeNs>(throttled->throttled_ns, 0));
  }
  metrics_->publish(facts_, now);
}

Result<> RecordingRun::open_control() {
  const ControlHandler handler{
      [this] { return status(); }, [this](const ToggleRequest& request) { return toggle(request); },
      [this](const AbRequest& request) { return begin_ab(request); },
      [this](const AutoRequest& request) { return set_autopilot(request); }, [this] { return dump(); }};
  Result<ControlServer> server = ControlServer::start(
      held_.session.socket_path(), [handler](const std::string& line) { return answer_request(handler, line); },
      held_.session.memory());
  if (!server) return server.error();
  server_.emplace(*std::move(server));
  return ok();
}

SessionStatus RecordingRun::status() const {
  const store::RecorderProgress progress = drain_->progress();
  const WantedWait wanted = switchboard_.wanted();
  SessionStatus s;
  s.name = held_.header().name;
  s.app = held_.app;
  s.output = name_of(absolute_name_, segment());
  s.app_pid = held_.process->pid();
  s.tool_pid = getpid();
  s.mode = wanted.mode;
  s.strategy = wanted.strategy;
  const WantedWait of_host = host_wait(held_.control());
  s.host_mode = of_host.mode;
  s.host_strategy = of_host.strategy;
  s.events = progress.events;
  s.waits = progress.waits;
  s.lost = progress.lost;
  s.runtime_attached = attached_processes(held_.control()) != 0;
  s.unreached = switchboard_.unreached();
  s.unrecorded = held_.header().rings_refused.load(std::memory_order_relaxed);
  s.sites = switchboard_.site_names();
  s.stopped = progress.stopped;
  if (triggers_ && segments_) {
    s.dump_failed = segments_->why_not_begun();
    s.dumps = segments_->completed();
  }
  s.ab = ab_.doing();
  s.ab_running = ab_.running();
  s.ab_side = switchboard_.side_with_waits();
  s.autopilot = autopilot_.doing();
  s.autopilot_running = autopilot_.running();
  s.started = started_;
  s.started_utc = started_utc_;
  const Place place = place_of_this_process();
  s.folder = place.folder;
  s.terminal = place.terminal;
  s.user = place.user;
  return s;
}

Result<ToggleReply> RecordingRun::toggle(const ToggleRequest& request) {
  if (ab_.running()) return unavailable("this run compares both modes now; toggle once the comparison is over");
  autopilot_.end(fmt::format("toggle {} was asked for", mode_name(request.mode)), now_ns());
  return switchboard_.toggle(request);
}

Result<> RecordingRun::set_autopilot(const AutoRequest& request) {
  if (request.off) {
    if (!autopilot_.running()) return unavailable("the autopilot of this run is off already");
    autopilot_.end("toggle auto --off was asked for", now_ns());
    return ok();
  }
  if (ab_.running()) return unavailable("this run compares both modes now; begin once the comparison is over");
  AutoPlan plan;
  plan.park = {Mode::park, request.strategy};
  plan.side = request.side;
  plan.seed = static_cast<std::uint64_t>(now_ns());
  plan.device_before = switchboard_.wanted();
  plan.host_before = host_wait(held_.control());
  return autopilot_.begin(plan);
}

Result<> RecordingRun::begin_ab(const AbRequest& request) {
  if (in_segments()) {
    return unavailable(fmt::format("a comparison needs one trace, and this run is recorded in several ({})",
                                   plan_.capture.segments.option()));
  }
  if (drain_->attached() == 0) {
    return unavailable("this app has no wic runtime (or has not started it yet), so there is nothing to compare");
  }
  autopilot_.end("toggle ab was asked for", now_ns());
  AbPlan asked;
  // The schedule counts its time from the attachment.
  asked.time = request.time + (now_ns() - drain_->attached());
  asked.precision = request.precision;
  asked.seed = static_cast<std::uint64_t>(now_ns());
  asked.park = {Mode::park, request.strategy};
  asked.side = request.side;
  asked.then = request.side == WaitSide::host ? host_wait(held_.control()) : switchboard_.wanted();
  return ab_.begin(asked);
}

Result<DumpReply> RecordingRun::dump() {
  if (!triggers_) {
    return unavailable(
        "this run keeps no last minutes that a dump could write; begin it with wic-prof run --keep-last 5m --trigger "
        "dump");
  }
  const unsigned number = segment();
  const Result<> asked = triggers_->request("dump", "wic-prof dump asked for it", now_ns());
  if (!asked) return asked.error();
  return DumpReply{name_of(absolute_name_, number), number};
}

void RecordingRun::read_energy() {
  EnergySources sources = find_energy_sources();
  for (const std::string& lacking : sources.lacking) {
    warn(lacking);
    write_notice(own_.sink(), NoticeSeverity::warning, lacking);
  }
  energy_.emplace(std::move(sources), own_.sink());
}

Result<> RecordingRun::start_program() {
  if (plan_.capture.energy) guarded("looking for meters of energy", [this] { read_energy(); });
  if (plan_.capture.host)
    sampler_.emplace(held_.session.map(), held_.process->pid(), own_.sink(), [this](pid_t each) { look_at(each); });
  window_.start(now_ns());
  if (plan_.capture.timed()) {
    recorder_->set_capture_window(window_.from(), window_.until());
    recorder_->set_meta(store::MetaKey::capture_from_ns, std::to_string(window_.from()));
    if (plan_.capture.duration != 0)
      recorder_->set_meta(store::MetaKey::capture_until_ns, std::to_string(window_.until()));
  }
  if (triggers_) triggers_->set_window(window_.from(), window_.until());
  if (segments_) segments_->set_window(window_.from(), window_.until());
  heartbeat_.emplace(held_.control());
  drain_->start();  // until finish(), only the drain uses the recorder
  if (const Result<> begun = held_.process->start(); !begun) {
    sampler_.reset();
    energy_.reset();
    drain_->finish();
    return begun;
  }
  last_way_.started(held_.process->pid());
  unstarted_.program_started();
  const std::string name = held_.header().name;
  if (!plan_.quiet) {
    note(fmt::format("session '{}', recording {} (pid {}) to {}{}", name, held_.app, held_.process->pid(), first_trace_,
                     triggers_       ? ", and to another trace after each dump"
                     : in_segments() ? " and further segments"
                                     : ""));
  }
  const bool port_is_news = plan_.metrics.served && plan_.metrics.served->picks_port();
  if (metrics_ && (!plan_.quiet || port_is_news)) note("metrics " + metrics_->where());
  if (plan_.started) guarded("showing the run", [&] { helper_ = plan_.started(name); });
  return ok();
}

RunOutcome RecordingRun::until_end() {
  supervision_.emplace(*held_.process, held_.session.map(), switchboard_, *drain_, signals_, window_, ab_, autopilot_,
                       other_root_, plan_, sight_, triggers_ ? &*triggers_ : nullptr, helper_);
  RunOutcome outcome;
  const std::optional<AppEnd> end = supervision_->until_end();
  outcome.end = end.value_or(AppEnd{});
  outcome.left_running = !end;
  outcome.interrupted = supervision_->interrupted();
  outcome.timed_out = supervision_->timed_out();
  outcome.ended_as_planned = supervision_->ended_as_planned();
  if (outcome.left_running) outcome.stays = held_.process->leave();  // while the drain reads
  stop(outcome);
  guarded("describing the run in the trace", [&] { describe_run(outcome); });
  if (held_.modules)
    guarded("disassembling the sampled functions", [&] { record_instructions(*recorder_, held_.modules->path()); });
  outcome.recording = unavailable("the trace could not be completed, for the reason above");
  guarded("completing the trace", [&] { complete_trace(outcome); });
  outcome.lost = recorder_->lost();
  outcome.trace = recorder_->path();
  last_way_.ended(outcome.status());
  const store::RecorderProgress progress = recorder_->progress();
  if (!progress.news.empty()) warn(progress.news);
  if (!progress.stopped.empty() && !supervision_->reported_stop())
    warn("RECORDING STOPPED: " + progress.stopped + ". The last events count as lost");
  for (const std::string& news : triggers_ && !plan_.quiet ? triggers_->take_news() : std::vector<std::string>())
    note(news);
  return outcome;
}

void RecordingRun::stop(RunOutcome& outcome) {
  last_way_.ended(outcome.status());
  patience_->program_ended();
  switchboard_.close();
  heartbeat_.reset();  // what is left of the program waits in its own way
  sampler_.reset();
  energy_.reset();
  drain_->finish();
  if (metrics_) guarded("publishing the last metrics", [&] { publish_metrics(now_ns()); });
  if (const std::string news = other_root_.news(); !news.empty()) warn(news);
  outcome.out_of_session = out_of_session_.why();
  if (held_.session.is_file_cut()) recorder_->set_stat(store::Stat::ring_corrupt, kSessionCut, 1);
  if (segments_) {
    outcome.segments = segments_->count();
    outcome.first_segment = first_trace_;
  }
  outcome.trace = name_of(whole_name_, std::max(outcome.segments, 1u));
}

void RecordingRun::describe_run(RunOutcome& outcome) {
  if (const std::string failed = drain_->failure(); !failed.empty())
    recorder_->set_stat(store::Stat::store_stopped, failed, 1);
  describe_steal(*recorder_);
  keep_sight();
  outcome.attached = drain_->attached() != 0;
  outcome.side = switchboard_.side_with_waits();
  outcome.host_waits = switchboard_.has_host_waits();
  if (const std::optional<Mode> first = drain_->first_mode(); first && outcome.segments <= 1)
    recorder_->set_meta(store::MetaKey::mode, std::string(mode_name(*first)));
  for (const auto& [key, value] : ab_.meta()) {
    recorder_->set_meta(key, value);
    outcome.compared = outcome.compared || (key == store::MetaKey::ab_phases && !value.empty());
  }
  warn_of_unused(outcome);
  if (const std::int64_t wake = held_.control().host_wake_ns.load(std::memory_order_relaxed); wake > 0)
    recorder_->set_meta(store::MetaKey::host_wake_ns, std::to_string(wake));
  recorder_->set_meta(store::MetaKey::ended_ns, std::to_string(now_ns()));
  if (triggers_) {
    const std::string failure = outcome.failure();
    triggers_->describe(*recorder_,
                        outcome.interrupted
                            ? fmt::format("the run was interrupted ({})", strsignal(*outcome.interrupted))
                            : "the program " + (failure.empty() ? "ended" : failure),
                        now_ns());
  }
  if (!outcome.left_running && !plan_.attach)
    recorder_->set_meta(store::MetaKey::app_status, std::to_string(outcome.end.status));
  if (outcome.end.signal) recorder_->set_meta(store::MetaKey::app_signal, std::to_string(*outcome.end.signal));
}

const char* RecordingRun::why_no_phases(const RunOutcome& outcome) const {
  const bool failed = !outcome.left_running && outcome.end.status != 0;
  if (failed && !outcome.ended_as_planned && !outcome.interrupted) return "failed before it started a wic runtime";
  if (!plan_.ab || plan_.ab->side == WaitSide::device) return "has no wic runtime";
  return plan_.ab->side ? "has no host thread that waited in a call of CUDA which wic-prof records"
                        : "has no wic runtime, and no host thread that waited in a call of CUDA which wic-prof records";
}

void RecordingRun::warn_of_unused(const RunOutcome& outcome) const {
  if (const std::size_t unused = supervision_->unused_phases(); unused > 0) {
    warn(!outcome.attached
             ? fmt::format("the schedule was not applied: the program {}", why_no_phases(outcome))
             : fmt::format("the program ended before {} of the schedule's changes; let it run longer", unused));
  }
  if (plan_.ab && !outcome.compared) {
    warn(fmt::format("nothing was compared: the program {}",
                     outcome.attached ? "ended before the first phase; let it run longer" : why_no_phases(outcome)));
  }
}

void RecordingRun::complete_trace(RunOutcome& outcome) {
  const std::string stopped = drain_->failure().empty() ? recorder_->progress().stopped : drain_->failure();
  Finishing finishing(signals_, now_ns() - started_, plan_.quiet);
  const store::FinishWatch watch = [&](auto step, auto part) { return finishing.goes_on(step, part); };
  const Result<> earlier =
      segments_ ? segments_->finish(now_ns(), [&] { return watch(store::FinishStep::summarising, std::nullopt); })
                : Result<>(ok());
  if (const Result<> finished = recorder_->finish(watch); !finished) {
    outcome.recording = finished.error();
  } else if (!stopped.empty()) {
    outcome.recording = unavailable(stopped);
  } else if (!earlier) {
    outcome.recording = earlier.error();
  } else {
    outcome.recording.reset();
  }
}

}  // namespace wicprof::cli
