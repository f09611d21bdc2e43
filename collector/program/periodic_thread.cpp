#include "collector/program/periodic_thread.h"

#include <pthread.h>

#include <thread>

#include "collector/program/own_thread.h"

namespace wicprof::collector {

bool PeriodicThread::start(const char* name, std::chrono::milliseconds period, std::function<void()> work,
                           std::function<void()> answer) {
  const std::lock_guard lock(mutex_);
  if (running_ || stop_) return true;
  period_ = period;
  work_ = std::move(work);
  answer_ = std::move(answer);

  std::thread thread = start_own_thread([this, name] { run(name); });
  running_ = thread.joinable();
  if (running_) thread.detach();
  return running_;
}

bool PeriodicThread::request() {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || stop_) return false;
    requested_ = true;
  }
  changed_.notify_all();
  return true;
}

bool PeriodicThread::stop(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, timeout, [this] { return !running_; });
}

void PeriodicThread::run(const char* name) {
  pthread_setname_np(pthread_self(), name);
  std::unique_lock lock(mutex_);
  for (auto next = std::chrono::steady_clock::now() + period_; !stop_;) {
    changed_.wait_until(lock, next, [this] { return stop_ || requested_; });
    if (stop_) break;
    requested_ = false;
    lock.unlock();
    if (std::chrono::steady_clock::now() < next) {
      answer_();
    } else {  // by time alone, so that frequent requests cannot postpone the work
      work_();
      next = std::chrono::steady_clock::now() + period_;
    }
    lock.lock();
  }
  running_ = false;
  changed_.notify_all();
}

}  // namespace wicprof::collector
