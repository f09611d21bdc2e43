#include "collector/program/counter_clock.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace wicprof::collector {

bool CounterClock::system_uses_counter(const char* named_in) {
#if defined(__x86_64__)
  std::string name;
  return static_cast<bool>(std::ifstream(named_in) >> name) && name == "tsc";
#else
  (void)named_in;
  return false;
#endif
}

void CounterClock::follow() {
#if defined(__x86_64__)
  if (!usable_) return;
  // The thread may lose its CPU between the two: the closest of some pairs counts.
  std::uint64_t shortest = ~std::uint64_t{0};
  Pair best;
  for (int i = 0; i < 5; ++i) {
    _mm_lfence();
    const std::uint64_t before = counter();
    const TimeNs ns = now_ns();
    _mm_lfence();
    const std::uint64_t after = counter();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, ns};
  }
  follow(best.counter, best.ns);
#endif
}

void CounterClock::follow(std::uint64_t counter, TimeNs ns) {
  const Pair now{counter, ns};
  if (!usable_) return;
  if (rate_from_.counter == 0) return begin_anew(now);
  TimeNs expected = 0;
  if (at(counter, expected) && std::abs(expected - ns) > kMostOff) return begin_anew(now);
  const TimeNs length = ns - rate_from_.ns;
  const std::uint64_t counts = counter - rate_from_.counter;
  if (counter <= rate_from_.counter || length <= 0) return begin_anew(now);
  if (length < kShortest) return;
  const double ns_per_count = static_cast<double>(length) / static_cast<double>(counts);
  if (ns_per_count >= 1) return begin_anew(now);  // too coarse
  constexpr double kOne = static_cast<double>(std::uint64_t{1} << kShift);
  publish(now, static_cast<std::uint64_t>(ns_per_count * kOne),
          static_cast<std::uint64_t>(std::min(static_cast<double>(kLongest) / ns_per_count, kOne - 1)));
  if (length < kLongest) {
    next_ = now;
  } else if (ns - next_.ns >= kLongest) {  // the rate of the last one to two seconds or so
    rate_from_ = next_;
    next_ = now;
  }
}

void CounterClock::begin_anew(const Pair& at) {
  publish(at, 0, 0);
  rate_from_ = next_ = at;
}

void CounterClock::publish(const Pair& at, std::uint64_t scale, std::uint64_t most) {
  const std::uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  // Release, so that whoever sees a new value also sees the odd version.
  counter_.store(at.counter, std::memory_order_release);
  ns_.store(at.ns, std::memory_order_release);
  scale_.store(scale, std::memory_order_release);
  most_.store(most, std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

}  // namespace wicprof::collector
