#include "collector/waits/short_waits.h"

namespace wicprof::collector {

ShortWaits* ShortWaitsOfThreads::claim() {
  const std::lock_guard lock(mutex_);
  for (ShortWaits& waits : all_) {
    if (waits.in_use_.load(std::memory_order_acquire)) continue;
    waits.in_use_.store(true, std::memory_order_relaxed);
    return &waits;
  }
  return &all_.emplace_back();
}

std::vector<ShortWaits*> ShortWaitsOfThreads::pending() {
  const std::lock_guard lock(mutex_);
  std::vector<ShortWaits*> found;
  for (ShortWaits& waits : all_) {
    if (!waits.empty()) found.push_back(&waits);
  }
  return found;
}

}  // namespace wicprof::collector
