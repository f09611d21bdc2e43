#include "src/channel/monitor.h"

#include <algorithm>
#include <chrono>

#include "src/device/own_thread.h"

namespace wic {

using wicprof::WaitStatus;

namespace {
// Between two looks after the doorbell has failed, since nothing can wake the monitor then.
constexpr auto kNap = std::chrono::microseconds(50);
// A producer that is gone rings no bell, and a bell may fail.
constexpr wicprof::TimeNs kScanInterval = 20 * wicprof::kMillisecond;
}  // namespace

Monitor::Monitor(std::uint32_t tags, std::unique_ptr<Doorbell> bell,
                 std::function<std::uint32_t(Tag, std::uint32_t)> arrived)
    : bell_(std::move(bell)), arrived_(std::move(arrived)), available_(tags), thread_([this] { run(); }) {}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  static_cast<void>(bell_->close());  // if close() fails, the wait fails too
  thread_.join();
}

WaitStatus Monitor::wait(Span<const Tag> tags, std::uint32_t cycle, wicprof::TimeNs timeout,
                         const std::function<bool()>& producer_lost) {
  const wicprof::TimeNs end = deadline_after(wicprof::now_ns(), timeout);
  Activator::Sleeper sleeper;
  std::unique_lock lock(mutex_);
  for (const Tag tag : tags) look(tag, cycle);
  const RequestId id = next_id_++;
  if (queue_.add(id, tags, cycle, available_) != PendingQueue::Outcome::queued) return WaitStatus::satisfied;
  for (const Tag tag : queue_.missing(id)) awaited_.emplace(tag, cycle);
  activator_.add(id, sleeper);
  lock.unlock();
  changed_.notify_all();

  bool lost = false;
  for (wicprof::TimeNs left = timeout; !lost && left > 0; left = end - wicprof::now_ns()) {
    if (sleeper.sleep(std::min(left, kScanInterval))) return WaitStatus::satisfied;
    lost = producer_lost();
    // Scans before it gives up, too: messages may have arrived in time, or before the producer was lost.
    const std::lock_guard scan_lock(mutex_);
    scan();
    end_idle_listening();
  }
  if (!activator_.remove(id)) return WaitStatus::satisfied;  // woken just before the deadline
  lock.lock();
  queue_.cancel(id);
  end_idle_listening();
  return lost ? WaitStatus::producer_lost : WaitStatus::deadline_passed;
}

std::size_t Monitor::pending() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

// Updates the tag's bit from its word, which holds the cycle: a bit that was not read for four cycles would look like
// that of a later cycle.
void Monitor::look(Tag tag, std::uint32_t cycle) {
  if (const std::uint32_t last = arrived_(tag, cycle); last != 0) available_.set(tag, last);
}

void Monitor::scan() {
  for (auto at = awaited_.begin(); at != awaited_.end();) {
    const auto [tag, cycle] = *at;
    if (!AtLeast{cycle}(arrived_(tag, cycle))) {
      ++at;
      continue;
    }
    look(tag, cycle);
    for (const RequestId id : queue_.tag_arrived(tag, cycle)) activator_.wake(id);
    at = awaited_.erase(at);
  }
  if (queue_.size() == 0) awaited_.clear();  // left by cancelled requests
}

// An armed bell is work of the device that no kernel may ever end.
void Monitor::end_idle_listening() {
  if (queue_.size() == 0 && listening_) static_cast<void>(bell_->release());  // if it fails, the wait fails too
}

void Monitor::run() {
  enter_own_thread("wic-monitor");
  std::uint32_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || queue_.size() != 0; });
    if (stop_) return;
    // The bell was read before this scan: a message that arrives after the scan rings it past `seen`.
    scan();
    if (queue_.size() == 0) continue;
    listening_ = true;
    lock.unlock();
    if (const Result<std::uint32_t> rung = bell_->wait(seen); rung) {
      seen = *rung;
    } else {
      std::this_thread::sleep_for(kNap);
    }
    lock.lock();
    listening_ = false;
    if (stop_) return;
  }
}

}  // namespace wic
