// Time in wic-prof: signed integer nanoseconds on the host's CLOCK_MONOTONIC, unless a name says device_ns.
#pragma once

#include <time.h>
#include <cstdint>

namespace wicprof {

using TimeNs = std::int64_t;

inline constexpr TimeNs kMicrosecond = 1'000;
inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;

/// The host clock that every trace is on. Any thread; async-signal-safe.
inline TimeNs now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return TimeNs{t.tv_sec} * kSecond + t.tv_nsec;
}

/// CPU time that the calling thread has used, to distinguish a spinning wait from a sleeping one.
inline TimeNs thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return TimeNs{t.tv_sec} * kSecond + t.tv_nsec;
}

}  // namespace wicprof
