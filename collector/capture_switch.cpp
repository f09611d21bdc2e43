#include "collector/capture_switch.h"

#include <pthread.h>

#include <thread>

#include "collector/program/own_thread.h"

namespace wicprof::collector {

namespace {

// Bounds the thread's sleep if the tool dies between changing the word and waking the thread.
constexpr TimeNs kMaxSleep = 10 * kSecond;

}  // namespace

void CaptureSwitch::begin(std::function<void(bool)> change) {
  change_ = std::move(change);
  set(control_ == nullptr || control_->capturing.load(std::memory_order_acquire) != 0);
}

void CaptureSwitch::set(bool on) {
  const std::lock_guard lock(mutex_);
  if (stop_ || on == on_) return;
  on_ = on;
  change_(on);
}

void CaptureSwitch::follow() {
  if (control_ == nullptr || control_->capture_changes.load(std::memory_order_acquire) == 0) return;
  if (following_.exchange(true)) return;
  running_ = true;
  std::thread thread = start_own_thread([this] { run(); });
  if (thread.joinable()) return thread.detach();
  running_ = false;
  set(true);  // until look()
}

void CaptureSwitch::look() {
  if (control_ != nullptr && !running_) set(control_->capturing.load(std::memory_order_acquire) != 0);
}

bool CaptureSwitch::stop(std::chrono::milliseconds timeout) {
  for (const auto end = std::chrono::steady_clock::now() + timeout;;) {
    if (mutex_.try_lock()) {
      stop_ = true;
      mutex_.unlock();
      // Repeats the wake: the thread may have looked at stop_ just before, and not sleep yet. Other processes of the
      // session that sleep on the word look at it and sleep on.
      while (running_ && std::chrono::steady_clock::now() < end) {
        futex_wake_all(control_->capturing);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      return !running_;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void CaptureSwitch::run() {
  pthread_setname_np(pthread_self(), "wicprof-capture");
  for (;;) {
    const std::uint32_t capturing = control_->capturing.load(std::memory_order_acquire);
    set(capturing != 0);
    {
      const std::lock_guard lock(mutex_);
      if (stop_) break;
    }
    futex_wait(control_->capturing, capturing, kMaxSleep);
  }
  running_ = false;  // the last access: the owner may end now
}

}  // namespace wicprof::collector
