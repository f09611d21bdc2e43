#include "src/host_wait.h"

#include <time.h>

#include <algorithm>
#include <atomic>

namespace wic {

using wicprof::StrategyId;
using wicprof::TimeNs;

namespace {

constexpr TimeNs kLongestSleep = 500 * wicprof::kMicrosecond;  // so that a toggle reaches a sleeper within a millisecond
constexpr TimeNs kLongestNap = 50 * wicprof::kMicrosecond;
constexpr TimeNs kShortestNap = 1 * wicprof::kMicrosecond;
constexpr TimeNs kSpinFirst = 200 * wicprof::kMicrosecond;

void nap(TimeNs ns) {
  const timespec t{ns / wicprof::kSecond, ns % wicprof::kSecond};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

HostWaitResult host_wait(const std::uint32_t* word, AtLeast condition, TimeNs timeout, TimeNs predicted,
                         const std::function<StrategyId()>& strategy_now) {
  const TimeNs arrived = wicprof::now_ns();
  const TimeNs sleep_until = arrived + (predicted > kSpinFirst ? predicted - predicted / 5 : 0);
  const TimeNs spin_until = arrived + (predicted > kSpinFirst ? 0 : kSpinFirst);
  std::atomic_ref<std::uint32_t> shared(*const_cast<std::uint32_t*>(word));
  HostWaitResult wait{{wicprof::WaitStatus::satisfied, 0}, 0};
  for (;;) {
    wait.result.value = shared.load(std::memory_order_acquire);
    ++wait.polls;
    if (condition(wait.result.value)) return wait;
    const TimeNs now = wicprof::now_ns();
    const StrategyId strategy = strategy_now();
    if (now - arrived >= timeout || strategy == static_cast<StrategyId>(kProducerLost)) {
      wait.result.status = now - arrived >= timeout ? wicprof::WaitStatus::deadline_passed
                                                    : wicprof::WaitStatus::producer_lost;
      return wait;
    }
    if (now < spin_until || strategy == StrategyId::poll) {
      pause_cpu();
    } else if (now + kShortestNap < sleep_until) {
      nap(std::min(sleep_until - now, kLongestSleep));
    } else {
      nap(std::clamp((now - arrived) / 32, kShortestNap, kLongestNap));
    }
  }
}

}  // namespace wic
