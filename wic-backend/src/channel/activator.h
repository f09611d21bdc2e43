// Wakes the host threads whose requests are complete, each once: every thread sleeps on its own condition variable.
#pragma once

#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "protocol/time.h"
#include "src/channel/pending_queue.h"

namespace wic {

/// Any thread.
class Activator {
 public:
  /// One sleeping thread; on that thread's stack.
  class Sleeper {
   public:
    /// False if `timeout` passes first.
    bool sleep(wicprof::TimeNs timeout);

   private:
    friend class Activator;
    void wake();

    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
  };

  void add(RequestId id, Sleeper& sleeper);
  /// False if the sleeper has been woken already, or is being woken.
  bool remove(RequestId id);
  /// Wakes the sleeper of that request, if any, and removes it.
  void wake(RequestId id);

 private:
  std::mutex mutex_;
  std::unordered_map<RequestId, Sleeper*> sleepers_;
};

}  // namespace wic
