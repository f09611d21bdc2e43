#include "collector/waits/others_work.h"

#include <unistd.h>

#include <algorithm>

#include "collector/program/pause.h"

namespace wicprof::collector {

namespace {

// None of these is calibrated.
constexpr TimeNs kNoisy = 10 * kSecond;
/// From the end of its callback until a call has reached its wait.
constexpr TimeNs kReachesDriver = 30'000;
constexpr int kFirstTicks = 10, kEveryTicks = 10, kIdleTicks = 20;

}  // namespace

OthersWork::Wait::Wait(OthersWork& others, std::uint32_t thread, CUstream stream, bool gives_way)
    : others_(others), entry_(std::make_shared<Entry>()) {
  entry_->thread = thread;
  entry_->stream = stream;
  entry_->gives_way = gives_way;
  {
    const std::lock_guard lock(others_.mutex_);
    others_.waits_.push_back(entry_);
  }
  others_.count_.fetch_add(1);
  if (!others_.used_.exchange(true) && others_.ticks_.load() == 0) others_.watch(true);
}

OthersWork::Wait::~Wait() {
  others_.count_.fetch_sub(1);
  {
    const std::lock_guard lock(others_.mutex_);
    std::erase(others_.waits_, entry_);
  }
  entry_->gone.store(true, std::memory_order_release);
}

void OthersWork::begins(std::uint32_t thread, CUstream stream) {
  if (count_.load() == 0) return;
  std::vector<std::shared_ptr<Entry>> giving_way;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Entry>& wait : waits_) {
      const bool concerns = wait->stream == nullptr || (wait->stream == stream && stream != CU_STREAM_PER_THREAD);
      if (wait->thread == thread || !concerns) continue;
      if (wait->stream == nullptr) noisy_until_.store(now_ns() + kNoisy, std::memory_order_relaxed);
      wait->interrupted.store(true, std::memory_order_release);
      if (wait->gives_way) giving_way.push_back(wait);
    }
  }
  if (giving_way.empty()) return;
  if (wake_) wake_();
  for (const TimeNs until = now_ns() + longest_step_; now_ns() < until;) {
    const bool all_gone = std::all_of(giving_way.begin(), giving_way.end(),
                                      [](const auto& wait) { return wait->gone.load(std::memory_order_acquire); });
    if (all_gone) break;
    usleep(10);
  }
  for (const TimeNs until = now_ns() + kReachesDriver; now_ns() < until;) pause_briefly();
}

void OthersWork::watch(bool on) {
  if (watching_.exchange(on) != on && watch_) watch_(on);
}

void OthersWork::tick() {
  idle_ticks_ = used_.exchange(false) || count_.load() > 0 ? 0 : idle_ticks_ + 1;
  if (idle_ticks_ >= kIdleTicks) {
    ticks_ = 0;  // the next wait begins anew
    return watch(false);
  }
  const int ticks = ++ticks_;
  watch(ticks <= kFirstTicks || ticks % kEveryTicks == 0);
}

}  // namespace wicprof::collector
