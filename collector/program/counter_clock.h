// The host's clock, read from the CPU's time stamp counter: for calls that take less time than the operating system
// takes to tell it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "protocol/time.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace wicprof::collector {

/// A look costs a third of now_ns(), since it does not wait for the CPU's earlier instructions and loads: it may be
/// some ten nanoseconds early. Compared with the system's clock at each follow(), between which it runs at the rate of
/// the last seconds; now() is now_ns() while that is not known, or too long ago.
class CounterClock {
 public:
  /// More than this beside the system's clock: the counter is not used until its rate has been measured anew. Twenty
  /// times what one look at the system's clock may be off.
  static constexpr TimeNs kMostOff = kMicrosecond;
  /// The rate is measured over at least this time, and is used for so long without a new follow().
  static constexpr TimeNs kShortest = 20 * kMillisecond, kLongest = kSecond;

  /// Whether Linux itself takes its time from the counter, which it does only where all CPUs have the same.
  static bool system_uses_counter(const char* named_in =
                                      "/sys/devices/system/clocksource/clocksource0/"
                                      "current_clocksource");
  static std::uint64_t counter() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
  }

  /// Not `usable`: always now_ns().
  explicit CounterClock(bool usable) : usable_(usable) {}
  CounterClock(const CounterClock&) = delete;
  CounterClock& operator=(const CounterClock&) = delete;

  /// Any thread.
  TimeNs now() const {
    const std::uint64_t counter = CounterClock::counter();
    TimeNs ns = 0;
    return at(counter, ns) ? ns : now_ns();
  }

  /// The time at which the counter has that value. False: not known.
  bool at(std::uint64_t counter, TimeNs& ns) const {
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    const std::uint64_t passed = counter - counter_.load(std::memory_order_acquire);
    const TimeNs begin = ns_.load(std::memory_order_acquire);
    const std::uint64_t scale = scale_.load(std::memory_order_acquire), most = most_.load(std::memory_order_acquire);
    ns = begin + static_cast<TimeNs>(passed * scale >> kShift);
    return passed < most && version_.load(std::memory_order_relaxed) == version && version % 2 == 0;
  }

  /// Compares the counter with the system's clock. One thread, every 100 ms or so.
  void follow();

  /// The same with a pair that was read elsewhere: both at the same time.
  void follow(std::uint64_t counter, TimeNs ns);

 private:
  struct Pair {
    std::uint64_t counter = 0;
    TimeNs ns = 0;
  };
  static constexpr int kShift = 32;

  void publish(const Pair& at, std::uint64_t scale, std::uint64_t most);
  void begin_anew(const Pair& at);

  const bool usable_;
  Pair rate_from_, next_;  // of the following thread; rate_from_.counter 0: none yet
  alignas(64) std::atomic<std::uint32_t> version_{0};
  std::atomic<std::uint64_t> counter_{0};
  std::atomic<TimeNs> ns_{0};
  std::atomic<std::uint64_t> scale_{0};  // ns per count, times 2^kShift; below 2^kShift
  std::atomic<std::uint64_t> most_{0};   // counts after counter_ for which all this holds, below 2^kShift; 0: none
};

}  // namespace wicprof::collector
