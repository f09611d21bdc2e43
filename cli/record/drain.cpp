#include "cli/record/drain.h"

#include <chrono>
#include <cstdint>

namespace wicprof::cli {

namespace {
// A busy ring must not keep the others waiting: at most this much of each in turn.
constexpr std::size_t kBytesInTurn = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kIdle{1};
}  // namespace

Drain::Drain(const SessionMap& session, store::Recorder& recorder) : session_(session), recorder_(recorder) {
  for (std::size_t i = 0; i < session.header().ring_count; ++i) rings_.emplace_back(session.ring(i));
  thread_ = std::thread([this] { work(); });
}

Drain::~Drain() { finish(); }

void Drain::finish() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

store::RecorderProgress Drain::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void Drain::work() {
  for (;;) {
    const bool last = stop_.load(std::memory_order_relaxed);
    const std::size_t records = round(last ? SIZE_MAX : kBytesInTurn);
    if (last) return;
    if (records == 0) std::this_thread::sleep_for(kIdle);
  }
}

std::size_t Drain::round(std::size_t max_bytes) {
  const ControlBlock& control = session_.control();
  if (attached() == 0 && control.runtime_attached.load(std::memory_order_acquire) != 0) {
    first_mode_ = WantedWait::unpack(control.wanted.load(std::memory_order_relaxed)).mode;
    attached_.store(now_ns(), std::memory_order_relaxed);
  }
  std::size_t records = 0;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    recorder_.set_ring_process(i, session_.ring(i)->owner.load(std::memory_order_acquire));
    records += rings_[i].read([&](const EventHeader& event) { recorder_.add(i, event); }, max_bytes);
    recorder_.set_ring_dropped(i, rings_[i].dropped(), rings_[i].corrupt());
  }
  recorder_.tick();
  store::RecorderProgress now = recorder_.progress();
  const std::lock_guard lock(mutex_);
  progress_ = std::move(now);
  return records;
}

}  // namespace wicprof::cli
