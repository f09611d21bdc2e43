// Wakes the host threads whose requests are complete: each sleeps on a condition variable of its own and is woken once.
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
  /// One thread's sleep; lives on its stack.
  class Sleeper {
   public:
    /// False when `timeout` passes first.
    bool sleep(wicprof::TimeNs timeout);

   private:
    friend class Activator;
    void wake();

    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
  };

  void add(RequestId id, Sleeper& sleeper);
  /// False when the sleeper has been woken, or is being woken, already.
  bool remove(RequestId id);
  /// Wakes the sleeper of that request, if there is one, and forgets it.
  void wake(RequestId id);

 private:
  std::mutex mutex_;
  std::unordered_map<RequestId, Sleeper*> sleepers_;
};

}  // namespace wic
