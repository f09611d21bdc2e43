#include "src/runtime/drain_loop.h"

#include <chrono>
#include <optional>

#include "src/device/own_thread.h"
#include "src/records/record_events.h"

namespace wic {

namespace {
constexpr std::chrono::milliseconds kTraceInterval(1);
constexpr std::chrono::milliseconds kSampleInterval(10);
}  // namespace

DrainLoop::DrainLoop(const std::vector<DeviceMemory>& devices, StrategyBoard& board, TraceLink& trace,
                     std::uint32_t observe_one_in)
    : devices_(devices), board_(board), trace_(trace), observe_one_in_(observe_one_in) {
  records_.with([&](Records& records) {
    for (const DeviceMemory& memory : devices) {
      if (memory.records() == nullptr) continue;
      const std::uint32_t sms = memory.properties().sm_count;
      records.rings.push_back({&memory, RecordDrain(memory.records(), sms, memory.records_per_sm())});
    }
  });
}

DrainLoop::~DrainLoop() {
  {
    const std::lock_guard lock(stop_mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (trace_.attached()) close_rings();
}

void DrainLoop::start(ClockReadings clocks) {
  observing_ = observe_one_in_ != 0;
  thread_ = std::thread([this, clocks]() mutable { run(&clocks); });
}

void DrainLoop::observe_if_automatic() {
  records_.with([&](const Records&) {  // one caller at a time
    if (observe_one_in_ == 0 || observing_ || !board_.any_automatic()) return;
    observing_ = true;
    thread_ = std::thread([this] { run(nullptr); });
  });
}

void DrainLoop::run(ClockReadings* clocks) {
  enter_own_thread("wic-drain");
  const auto interval = trace_.attached() ? kTraceInterval : kSampleInterval;
  while (!stopped_within(interval)) {
    drain();
    if (clocks != nullptr) clocks->take_more();
  }
}

bool DrainLoop::stopped_within(std::chrono::milliseconds interval) {
  std::unique_lock lock(stop_mutex_);
  return stopping_.wait_for(lock, interval, [this] { return stop_; });
}

void DrainLoop::drain() {
  if (!trace_.attached() && !observing_) return;
  records_.with([&](Records& records) {
    drain(records);
    if (observing_) choose(records.census);
  });
}

void DrainLoop::drain(Records& records) {
  const TimeNs now = now_ns();
  for (Ring& ring : records.rings) drain(ring, records.census, now);
}

void DrainLoop::drain(Ring& ring, SiteCensus& census, TimeNs now) {
  const DeviceId device = ring.memory->properties().id;
  ring.records.drain([&](const DeviceRecord& record) {
    if (record_kind(record) == wicprof::SignalEvent::kKind) trace_.write(signal_event(record, device));
    if (record_kind(record) == kOpenWaitRecord) open_waits_.report(record, device, now);
    if (record_kind(record) != wicprof::WaitEvent::kKind) return;
    const wicprof::WaitEvent wait = wait_event(record, device);
    trace_.write(wait);
    open_waits_.ended(wait);
    if (observing_) census.add(wait, now);
  });
  const std::uint64_t lost = ring.records.lost() - ring.reported_lost;
  if (!trace_.attached() || lost == 0) return;  // a sample does not need every record
  trace_.write_loss(lost, "overwritten before they were read", device);
  ring.reported_lost += lost;
}

void DrainLoop::choose(SiteCensus& census) {
  const TimeNs now = now_ns();
  const SiteId sites = board_.site_count();
  for (SiteId site = 1; site <= sites; ++site) {
    const std::optional<SiteObservation> seen = census.take(site, now);
    if (!seen) continue;
    const Result<std::optional<Choice>> choice = board_.see(site, *seen);
    if (choice && *choice) trace_.write_choice(site, **choice);
    if (!choice)
      trace_.write_notice(wicprof::NoticeSeverity::warning, "a choice of auto failed: " + choice.error().message);
  }
}

void DrainLoop::close_rings() {
  drain();
  records_.with([&](Records& records) {
    for (Ring& ring : records.rings) {
      const Result<std::vector<std::uint32_t>> claimed = ring.memory->claimed_records();
      if (claimed) {
        ring.records.close(*claimed);
      } else {
        trace_.write_loss(1, "the number of unfinished records is unknown: " + claimed.error().message,
                          ring.memory->properties().id);
      }
    }
  });
  drain();
}

bool DrainLoop::uses_records() const { return trace_.attached() || (observing_ && board_.any_automatic()); }

std::uint32_t DrainLoop::sample_mask() const {
  return trace_.attached() || observe_one_in_ == 0 ? 0 : observe_one_in_ - 1;
}

}  // namespace wic
