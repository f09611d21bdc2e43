#include "src/channel/activator.h"

#include <chrono>

namespace wic {

bool Activator::Sleeper::sleep(wicprof::TimeNs timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout), [this] { return woken_; });
}

// Notifies under the lock: as soon as the lock is free, the sleeper may be destroyed.
void Activator::Sleeper::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

void Activator::add(RequestId id, Sleeper& sleeper) {
  const std::lock_guard lock(mutex_);
  sleepers_.emplace(id, &sleeper);
}

bool Activator::remove(RequestId id) {
  const std::lock_guard lock(mutex_);
  return sleepers_.erase(id) != 0;
}

// Wakes the sleeper under the lock, so that a thread in remove() does not destroy its sleeper meanwhile.
void Activator::wake(RequestId id) {
  const std::lock_guard lock(mutex_);
  const auto found = sleepers_.find(id);
  if (found == sleepers_.end()) return;
  found->second->wake();
  sleepers_.erase(found);
}

}  // namespace wic
