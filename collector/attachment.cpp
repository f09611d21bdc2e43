#include "collector/attachment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "collector/collector.h"
#include "collector/program/without_forks.h"
#include "collector/sources/list.h"
#include "collector/waits/range_names.h"
#include "collector/waits/watched_launches.h"
#include "protocol/control.h"
#include "protocol/process.h"
#include "protocol/recorder_watch.h"
#include "protocol/session.h"

namespace wicprof::collector {

namespace {

constexpr TimeNs kSilence = 3 * kSecond;          // of a tool that exists, after which it counts as stopped for good
constexpr std::chrono::seconds kExitPatience{2};  // of the program's exit with an end in progress

struct Attachment {
  SessionMap session;
  std::optional<EventSink> sink;
  std::optional<Collector> collector;

  AttachControl& control() const { return session.control().attach; }
};

// Begin and end of an attachment and the program's exit exclude each other: whoever comes first does the work.
std::mutex turn;
bool program_ends = false;
std::atomic<bool> is_child{false};  // in which the lock may stay locked forever
std::atomic<Attachment*> current{nullptr};

void answer(const Attachment& attachment, AttachState state, const std::string& text) {
  AttachControl& control = attachment.control();
  const std::size_t length = std::min(text.size(), sizeof control.text - 1);
  std::memcpy(control.text, text.data(), length);
  control.text[length] = '\0';
  control.state.store(state, std::memory_order_release);
}

/// The exit calls what was registered last first, so this comes before CUPTI's own end, once CUPTI is loaded; and again
/// once it has recorded, since that loads and makes more of it.
void register_exit(bool has_recorded) {
  static bool registered[2];
  if (!std::exchange(registered[has_recorded ? 1 : 0], true)) std::atexit(attached_at_exit);
}

/// Empty: it records. Else why it does not.
std::string begin(Attachment& attachment, const WakeRequest& request, const Environment& environment,
                  WaitsOfProcess& waits, const Result<CuptiApi>& (*cupti)(const Environment&)) {
  RingHeader* const ring = attachment.session.claim_ring();
  if (ring == nullptr) return "the session has no free ring";
  attachment.sink.emplace(ring);
  write_process_event(*attachment.sink);
  ControlBlock& control = attachment.session.control();
  Selection selection =
      select_sources(split_list(request.trace), waits, &control, &attachment.session.open_work(), true);
  if (selection.sources.empty()) return {};
  const WithoutForks without;  // CUPTI's start may load more libraries than its own
  const Result<CuptiApi>& api = cupti(environment);
  if (!api) return api.error().message;
  register_exit(false);
  attachment.collector.emplace(*api, *attachment.sink, ring, environment, &control, Collector::Stay::for_now);
  current.store(&attachment);
  const Result<> started = attachment.collector->start(std::move(selection.sources));
  register_exit(true);
  return started ? "" : started.error().message;
}

/// Until the tool wants no more, has ended, or has been stopped for long.
void wait_for_end(const SessionMap& session) {
  const ControlBlock& control = session.control();
  const auto tool = static_cast<std::uint32_t>(session.header().tool_pid.load());
  RecorderWatch recorder;
  TimeNs heard = now_ns();
  while (control.attach.leave.load(std::memory_order_acquire) == 0) {
    const TimeNs now = now_ns();
    if (!recorder.gone(control, now)) {
      heard = now;
    } else if (process_is_gone(tool) || now - heard >= kSilence) {
      return;
    }
    futex_wait(control.attach.leave, 0, RecorderWatch::kInterval);
  }
}

/// Returns why nothing was recorded; empty: it was.
std::string record(Attachment& attachment, const WakeRequest& request, const Environment& environment,
                   WaitsOfProcess& waits, const Result<CuptiApi>& (*cupti)(const Environment&)) {
  std::unique_lock lock(turn);
  const std::string problem = program_ends ? "the program ends" : begin(attachment, request, environment, waits, cupti);
  if (problem.empty()) {
    lock.unlock();
    answer(attachment, AttachState::recording, "");
    wait_for_end(attachment.session);
    lock.lock();
  }
  while (program_ends) {  // which is over soon: all stays as it is until then
    lock.unlock();
    std::this_thread::sleep_for(kExitPatience);
    lock.lock();
  }
  if (problem.empty() && attachment.collector) attachment.collector->detach();
  current.store(nullptr);
  waits.forget();
  RangeNames::forget();
  LaunchCallbacks::forget();
  attachment.collector.reset();
  attachment.sink.reset();
  return problem;
}

}  // namespace

void record_attached(const WakeRequest& request, const Environment& environment, WaitsOfProcess& waits,
                     const Result<CuptiApi>& (*cupti)(const Environment&)) {
  Result<SessionMap> session = SessionMap::attach(request.session);
  if (!session) return;  // its tool has gone, or gives up in a while
  auto attachment = std::make_unique<Attachment>();
  attachment->session = *std::move(session);
  try {
    const std::string problem = record(*attachment, request, environment, waits, cupti);
    answer(*attachment, problem.empty() ? AttachState::left : AttachState::failed, problem);
  } catch (const std::exception&) {  // no memory: what callbacks may use stays
    if (attachment->collector) attachment->collector->switch_off();
    (void)attachment.release();
  }
}

void attached_at_exit() noexcept {
  if (is_child) return;
  std::unique_lock lock(turn, std::try_to_lock);
  for (const TimeNs end = now_ns() + std::chrono::nanoseconds(kExitPatience).count(); !lock && now_ns() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)lock.try_lock();
  }
  if (!lock || std::exchange(program_ends, true)) return;
  Attachment* const attachment = current.load();
  if (attachment == nullptr) return;
  try {
    attachment->collector->stop();
  } catch (...) {
    attachment->collector->switch_off();
  }
}

void attached_in_child() noexcept {
  is_child = true;
  if (Attachment* const attachment = current.load()) attachment->collector->switch_off();
}

}  // namespace wicprof::collector
