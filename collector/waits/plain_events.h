// The CUDA events of the program that a host thread waits for by spinning, unlike those with cudaEventBlockingSync, and
// that only calls of this process record, unlike those of other processes and of graphs.
#pragma once

#include <cuda.h>

#include <mutex>
#include <unordered_set>

namespace wicprof::collector {

/// Any thread. An event that the collector did not see being created is not one of them: its flags are not known.
class PlainEvents {
 public:
  void created(CUevent event, unsigned flags) {
    const std::lock_guard lock(mutex_);
    if ((flags & (CU_EVENT_BLOCKING_SYNC | CU_EVENT_INTERPROCESS)) == 0) {
      events_.insert(event);
    } else {
      events_.erase(event);  // the driver uses addresses again
    }
  }
  /// It is destroyed, or a graph will record it.
  void removed(CUevent event) {
    const std::lock_guard lock(mutex_);
    events_.erase(event);
  }
  bool contains(CUevent event) const {
    const std::lock_guard lock(mutex_);
    return events_.contains(event);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<CUevent> events_;
};

}  // namespace wicprof::collector
