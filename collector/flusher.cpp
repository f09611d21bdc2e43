#include "collector/flusher.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <thread>

namespace wicprof::collector {

bool Flusher::start(std::chrono::milliseconds period, std::function<void()> flush) {
  const std::lock_guard lock(mutex_);
  if (running_ || stop_) return false;
  period_ = period;
  flush_ = std::move(flush);

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { run(); }).detach();
    running_ = true;
  } catch (const std::exception&) {
    // No thread to be had: records then come with full buffers and at exit.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running_;
}

bool Flusher::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return !running_; });
}

void Flusher::run() {
  pthread_setname_np(pthread_self(), "wicprof-flush");
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period_, [this] { return stop_; })) {
    lock.unlock();
    flush_();
    lock.lock();
  }
  running_ = false;
  changed_.notify_all();
}

}  // namespace wicprof::collector
