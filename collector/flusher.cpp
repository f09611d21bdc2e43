#include "collector/flusher.h"

#include <pthread.h>

#include <thread>

#include "collector/program/own_thread.h"

namespace wicprof::collector {

bool Flusher::start(std::chrono::milliseconds period, std::function<void()> flush, std::function<void()> read) {
  const std::lock_guard lock(mutex_);
  if (running_ || stop_) return true;
  period_ = period;
  flush_ = std::move(flush);
  read_ = std::move(read);

  std::thread thread = start_own_thread([this] { run(); });
  running_ = thread.joinable();
  if (running_) thread.detach();
  return running_;
}

bool Flusher::request_read() {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || stop_) return false;
    read_requested_ = true;
  }
  changed_.notify_all();
  return true;
}

bool Flusher::stop(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, timeout, [this] { return !running_; });
}

void Flusher::run() {
  pthread_setname_np(pthread_self(), "wicprof-flush");
  std::unique_lock lock(mutex_);
  for (auto next = std::chrono::steady_clock::now() + period_; !stop_;) {
    changed_.wait_until(lock, next, [this] { return stop_ || read_requested_; });
    if (stop_) break;
    read_requested_ = false;
    lock.unlock();
    if (std::chrono::steady_clock::now() < next) {
      read_();
    } else {  // by time alone, so that frequent requests cannot postpone the flush
      flush_();
      next = std::chrono::steady_clock::now() + period_;
    }
    lock.lock();
  }
  running_ = false;
  changed_.notify_all();
}

}  // namespace wicprof::collector
