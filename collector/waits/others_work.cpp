#include "collector/waits/others_work.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace wicprof::collector {

namespace {

constexpr TimeNs kNoisy = 10 * kSecond;  // not calibrated
/// Until whoever has to go on is woken again: it may have been about to sleep. Then twice as long, and so on.
constexpr TimeNs kWakeAgain = 100 * kMicrosecond;

}  // namespace

OthersWork::Wait::Wait(OthersWork& others, std::uint32_t thread, Whose whose, CUstream stream)
    : others_(others), entry_(std::make_shared<Entry>()) {
  entry_->thread = thread;
  entry_->whose = whose;
  entry_->stream = stream;
  {
    const std::lock_guard lock(others_.mutex_);
    others_.waits_.push_back(entry_);
    others_.count_.store(others_.waits_.size());
  }
  if (whose == Whose::nobodys) return;
  if (others_.used_.exchange(true)) return;
  const std::lock_guard lock(others_.watch_mutex_);
  others_.watch(true);
}

OthersWork::Wait::~Wait() {
  entry_->way.ends();
  others_.remove(entry_);
}

void OthersWork::remove(const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(mutex_);
  std::erase(waits_, entry);
  count_.store(waits_.size());
}

bool OthersWork::some_wait() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(waits_, [](const auto& wait) { return wait->whose != Whose::nobodys; });
}

void OthersWork::begins(std::uint32_t thread, CUstream stream) {
  come_after(thread, patience_.work, [&](const Entry& wait) {
    if (wait.whose == Whose::everybodys) return true;
    return wait.whose == Whose::streams && wait.stream == stream && stream != CU_STREAM_PER_THREAD;
  });
}

void OthersWork::begins_capture(std::uint32_t thread) {
  come_after(thread, patience_.capture, [](const Entry& wait) {
    return wait.whose == Whose::everybodys || wait.gives_way.load() || wait.way.begun();
  });
}

void OthersWork::come_after(std::uint32_t thread, TimeNs patience, const std::function<bool(const Entry&)>& matters) {
  if (count_.load() == 0) return;
  std::vector<std::shared_ptr<Entry>> before;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Entry>& wait : waits_) {
      if (wait->thread == thread || !matters(*wait)) continue;
      if (wait->whose == Whose::everybodys) noisy_until_.store(now_ns() + kNoisy, std::memory_order_relaxed);
      wait->interrupted.store(true, std::memory_order_release);
      if (wait->gives_way.load() || wait->way.begun()) before.push_back(wait);
    }
  }
  if (before.empty()) return;
  if (wake_) wake_();
  const TimeNs woken = now_ns(), until = woken + patience;
  TimeNs again = kWakeAgain;
  for (const std::shared_ptr<Entry>& wait : before) {
    for (TimeNs now = woken; !wait->way.reached_driver() && now < until; now = now_ns()) {
      if (wake_ && !wait->way.begun() && now - woken >= again) {
        wake_();
        again *= 2;
      }
      usleep(10);
    }
    if (wait->way.reached_driver()) remove(wait);
  }
}

void OthersWork::watch(bool on) {
  if (std::exchange(watching_, on) != on && watch_) watch_(on);
}

void OthersWork::tick() {
  const std::lock_guard lock(watch_mutex_);
  idle_ticks_ = used_.exchange(false) || some_wait() ? 0 : idle_ticks_ + 1;
  watch(idle_ticks_ < kIdleTicks);
}

}  // namespace wicprof::collector
