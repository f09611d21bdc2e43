#include "src/runtime/host_wait.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>

namespace wic {

using wicprof::StrategyId;
using wicprof::TimeNs;

namespace {

constexpr TimeNs kLongestSleep =
    500 * wicprof::kMicrosecond;  // so that a toggle reaches a sleeper within a millisecond
constexpr TimeNs kLongestNap = 50 * wicprof::kMicrosecond;
constexpr TimeNs kShortestNap = 1 * wicprof::kMicrosecond;
constexpr TimeNs kSpinFirst = 200 * wicprof::kMicrosecond;
// A thread cannot fall asleep and wake up in time for the end of a shorter wait.
constexpr TimeNs kWorthSleeping = 500 * wicprof::kMicrosecond;
constexpr unsigned long kTimerSlackNs = 1'000;

// By default the system lets a thread's sleeps last 50 us longer than requested. This lowers the slack from the first
// sleep to the end of the wait.
class SharpTimers {
 public:
  void begin() {
    if (before_ >= 0) return;
    before_ = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (before_ >= 0) prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
  }
  ~SharpTimers() {
    if (before_ >= 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_), 0, 0, 0);
  }

 private:
  int before_ = -1;
};

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
  const bool sleeps = predicted > kWorthSleeping;
  const TimeNs sleep_until = arrived + (sleeps ? predicted - predicted / 5 : 0);
  const TimeNs spin_until = arrived + (sleeps ? 0 : std::max(kSpinFirst, 2 * predicted));
  SharpTimers timers;
  std::atomic_ref<std::uint32_t> shared(*const_cast<std::uint32_t*>(word));
  HostWaitResult wait{{wicprof::WaitStatus::satisfied, 0}, 0};
  for (;;) {
    wait.result.value = shared.load(std::memory_order_acquire);
    ++wait.polls;
    if (condition(wait.result.value)) return wait;
    const TimeNs now = wicprof::now_ns();
    const StrategyId strategy = strategy_now();
    if (now - arrived >= timeout || strategy == static_cast<StrategyId>(kProducerLost)) {
      wait.result.status =
          now - arrived >= timeout ? wicprof::WaitStatus::deadline_passed : wicprof::WaitStatus::producer_lost;
      return wait;
    }
    if (now < spin_until || strategy == StrategyId::poll) {
      pause_cpu();
    } else if (now + kShortestNap < sleep_until) {
      timers.begin();
      nap(std::min(sleep_until - now, kLongestSleep));
    } else {
      timers.begin();
      nap(std::clamp((now - arrived) / 128, kShortestNap, kLongestNap));
    }
  }
}

}  // namespace wic
