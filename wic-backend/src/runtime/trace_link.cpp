#include "src/runtime/trace_link.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol/events/choice.h"
#include "protocol/events/clock.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/signal.h"
#include "protocol/events/strategy.h"
#include "protocol/process.h"
#include "wic/word_tag.h"

namespace wic {

using wicprof::make_event;

namespace {

std::uint32_t this_thread() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace

Result<> TraceLink::attach(const char* session_path) {
  Result<wicprof::SessionMap> map = wicprof::SessionMap::attach(session_path);
  if (!map) return map.error();
  wicprof::RingHeader* const ring = map->claim_ring();
  if (ring == nullptr) return unavailable("all rings of the session are taken; nothing of this process is recorded");
  [[maybe_unused]] static const int in_children =
      pthread_atfork(nullptr, nullptr, [] { forks_so_far_.fetch_add(1, std::memory_order_relaxed); });
  forks_ = forks_so_far_.load(std::memory_order_relaxed);
  session_ = *std::move(map);
  sink_ = std::make_unique<wicprof::EventSink>(ring);
  wicprof::write_process_event(*sink_);
  return ok();
}

void TraceLink::write_strategies() {
  if (!attached()) return;
  for (const wicprof::StrategyName& strategy : kStrategies) {
    auto e = make_event<wicprof::StrategyEvent>();
    e.strategy = static_cast<std::uint32_t>(strategy.id);
    e.name = sink_->text(strategy.name);
    sink_->write(e);
  }
}

void TraceLink::write_device(const DeviceProperties& p) {
  if (!attached()) return;
  auto e = make_event<wicprof::DeviceEvent>();
  e.device = p.id;
  e.name = sink_->text(p.name);
  e.memory_bytes = p.memory_bytes;
  e.sm_count = p.sm_count;
  e.compute_major = p.compute_major;
  e.compute_minor = p.compute_minor;
  e.kind = p.kind;
  e.host_native_atomics = p.host_native_atomics ? 1 : 0;
  e.uuid = sink_->text(p.uuid);
  e.max_threads_per_sm = p.max_threads_per_sm;
  e.max_blocks_per_sm = p.max_blocks_per_sm;
  e.registers_per_sm = p.registers_per_sm;
  e.shared_bytes_per_sm = p.shared_bytes_per_sm;
  e.reserved_shared_bytes_per_block = p.reserved_shared_bytes_per_block;
  e.clock_khz = p.clock_khz;
  sink_->write(e);
}

void TraceLink::write_clock(DeviceId device, const ClockReading& reading) {
  if (!attached()) return;
  auto e = make_event<wicprof::ClockEvent>();
  e.device = device;
  e.device_ns = reading.device_ns;
  e.host_ns = reading.host_ns;
  e.error_ns = reading.error_ns;
  sink_->write(e);
}

void TraceLink::write_site(SiteId site, const SiteSpec& spec) {
  if (!attached()) return;
  auto e = make_event<wicprof::SiteEvent>();
  e.site = site;
  e.name = sink_->text(spec.name);
  e.word_memory = spec.word_memory;
  e.pollers = spec.pollers;
  e.words = spec.shared_word ? 1 : 0;
  e.purpose = spec.purpose;
  e.releasing = spec.releasing;
  e.waiting = spec.waiting;
  sink_->write(e);
}

void TraceLink::write_choice(SiteId site, const Choice& choice) {
  if (!attached()) return;
  auto e = make_event<wicprof::ChoiceEvent>();
  e.site = site;
  e.strategy = static_cast<std::uint32_t>(choice.strategy);
  e.at_ns = now_ns();
  e.reason = sink_->text(choice.reason);
  e.waiters_per_word = choice.seen.waiters_per_word;
  e.words = choice.seen.words;
  e.waits = choice.seen.waits;
  e.median_wait_ns = choice.seen.waits == 0 ? -1 : choice.seen.median_ns;
  e.look_ns = choice.seen.look_ns.value_or(-1);
  sink_->write(e);
}

void TraceLink::write_host_wait(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs begin,
                                TimeNs end, TimeNs cpu_ns, std::uint32_t polls, WaitStatus status, std::uint32_t value,
                                std::optional<std::uint32_t> wanted) {
  if (!attached()) return;
  auto e = make_event<wicprof::HostWaitEvent>();
  e.site = site;
  e.thread = this_thread();
  e.iteration = iteration;
  e.begin_ns = begin;
  e.end_ns = end;
  e.cpu_ns = cpu_ns;
  e.polls = polls;
  e.status = status;
  e.word_tag = word_tag(word);
  e.involuntary_switches = wicprof::HostWaitEvent::kUnknownSwitches;
  e.run_delay_ns = -1;
  e.value = value;
  e.names_wanted = wanted ? 1 : 0;
  e.wanted = wanted.value_or(0);
  sink_->write(e);
}

void TraceLink::write_host_signal(SiteId site, std::uint32_t iteration, const std::uint32_t* word, TimeNs at,
                                  std::uint32_t value, const Payload& payload) {
  if (!attached()) return;
  auto e = make_event<wicprof::SignalEvent>();
  e.site = site;
  e.device = wicprof::kHostDevice;
  e.block = this_thread();
  e.iteration = iteration;
  e.value = value;
  e.at_ns = static_cast<std::uint64_t>(at);
  e.word_tag = word_tag(word);
  e.offset = payload.offset;
  e.span = payload.span;
  e.bytes = payload.bytes;
  e.pieces = payload.pieces;
  e.regular = payload.regular ? 1 : 0;
  sink_->write(e);
}

void TraceLink::write_loss(std::uint64_t count, const std::string& reason, DeviceId device) {
  if (attached()) sink_->loss(wicprof::LossSource::device_ring, count, reason, device);
}

void TraceLink::write_notice(wicprof::NoticeSeverity severity, const std::string& text) {
  if (!attached()) return;
  auto e = make_event<wicprof::NoticeEvent>();
  e.at_ns = wicprof::now_ns();
  e.text = sink_->text(text);
  e.severity = severity;
  sink_->write(e);
}

}  // namespace wic
