// Waits that found their work done, on their way to the trace. A program may make a million of them a second, and each
// would otherwise take the sink's lock and write to memory that another process reads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "protocol/event_sink.h"
#include "protocol/events/host_wait.h"

namespace wicprof::collector {

/// Short waits of one thread that are not in the trace yet: at most kRoom of the last 100 ms, each shorter than
/// CpuMeter::kTooShortToSleep. SIGKILL loses them. That thread adds; any thread takes.
class ShortWaits {
 public:
  /// 7 KB, so that they stay in the thread's nearest cache. Not calibrated.
  static constexpr std::size_t kRoom = 64;

  /// Where the thread's next wait goes; nullptr: no room. Call commit() once it is written.
  HostWaitEvent* place() {
    if (added_.load(std::memory_order_relaxed) - seen_taken_ == kRoom) {
      seen_taken_ = taken_.load(std::memory_order_acquire);
      if (added_.load(std::memory_order_relaxed) - seen_taken_ == kRoom) return nullptr;
    }
    return &events_[added_.load(std::memory_order_relaxed) % kRoom];
  }
  bool full() { return place() == nullptr; }
  void commit() { added_.store(added_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  bool empty() const { return added_.load(std::memory_order_relaxed) == taken_.load(std::memory_order_relaxed); }

  /// Calls take(std::span<const HostWaitEvent>) for the waits, the oldest first. Does nothing while another thread
  /// takes them.
  template <class Take>
  void pass_on(Take&& take) {
    const std::unique_lock lock(taking_, std::try_to_lock);
    if (!lock) return;
    const std::uint64_t end = added_.load(std::memory_order_acquire);
    for (std::uint64_t begin = taken_.load(std::memory_order_relaxed); begin != end;) {
      const std::size_t at = begin % kRoom;
      const std::size_t count = std::min<std::size_t>(end - begin, kRoom - at);
      take(std::span<const HostWaitEvent>(events_).subspan(at, count));
      begin += count;
      taken_.store(begin, std::memory_order_release);
    }
  }
  /// To the sink, which holds what its ring has no space for.
  void pass_to(EventSink& sink) {
    pass_on([&](std::span<const HostWaitEvent> waits) { sink.write_or_hold_all(std::as_bytes(waits)); });
  }

 private:
  friend class ShortWaitsOfThreads;
  std::array<HostWaitEvent, kRoom> events_;
  std::uint64_t seen_taken_ = 0;  // of the thread
  std::atomic<std::uint64_t> added_{0};
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  std::mutex taking_;
  std::atomic<bool> in_use_{true};  // its thread has not ended
};

/// Those of all threads of the process. Any thread.
class ShortWaitsOfThreads {
 public:
  /// For one thread, until it gives them back. Never freed, since the thread may end before its waits are taken.
  ShortWaits* claim();
  void give_back(ShortWaits* waits) { waits->in_use_.store(false, std::memory_order_release); }

  /// Calls take(ShortWaits&) for each thread that has some.
  template <class Take>
  void each(Take&& take) {
    for (ShortWaits* const waits : pending()) take(*waits);
  }

 private:
  std::vector<ShortWaits*> pending();

  std::mutex mutex_;
  std::deque<ShortWaits> all_;
};

}  // namespace wicprof::collector
