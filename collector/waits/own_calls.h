// The calls of the driver that wic-prof itself makes while it waits in a call's place: CUPTI records them like the
// program's.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "protocol/time.h"

namespace wicprof::collector {

/// Any thread.
class OwnCalls {
 public:
  /// Times kept per thread: CUPTI delivers its records within a flush period, 100 ms by default, unless a kernel that
  /// still runs holds their buffer back. Not calibrated.
  static constexpr std::size_t kKept = 4096;

  /// For the object's lifetime, the calling thread's calls are wic-prof's.
  class Span {
   public:
    Span(OwnCalls& calls, std::uint32_t thread) : calls_(calls), thread_(thread) { calls_.begin(thread, now_ns()); }
    ~Span() { calls_.end(thread_, now_ns()); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    OwnCalls& calls_;
    std::uint32_t thread_;
  };

  /// Whether wic-prof made the call that the thread began at that time.
  bool made(std::uint32_t thread, TimeNs begin) const;

  /// Its times are kept until as many more threads with own calls have ended: the records of its calls come later.
  void thread_ended(std::uint32_t thread);

 private:
  struct Times {
    TimeNs begin, end;
  };
  void begin(std::uint32_t thread, TimeNs now);
  void end(std::uint32_t thread, TimeNs now);

  static constexpr std::size_t kKeptThreads = 64;  // not calibrated

  mutable std::mutex mutex_;
  std::deque<std::uint32_t> ended_;
  std::unordered_map<std::uint32_t, std::deque<Times>> by_thread_;
};

}  // namespace wicprof::collector
