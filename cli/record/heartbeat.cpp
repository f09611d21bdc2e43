#include "cli/record/heartbeat.h"

#include <pthread.h>

namespace wicprof::cli {

Heartbeat::Heartbeat(ControlBlock& control) : control_(control) {
  control_.heartbeat.fetch_add(1, std::memory_order_relaxed);
  thread_ = std::thread([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Heartbeat::beat() {
  pthread_setname_np(pthread_self(), "wicprof-beat");
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::nanoseconds(kHeartbeat), [this] { return end_; })) {
    control_.heartbeat.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace wicprof::cli
