// Threads that poll: queries that one thread makes one after the other, with the same result, become one event. Such a
// thread makes a million per second.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/event_batch.h"
#include "protocol/events/call.h"

namespace wicprof::collector {

/// Not synchronized.
class EqualQueries {
 public:
  /// Takes a call of a thread, in the order in which the thread's calls ended. `is_query`: it asks whether the GPU is
  /// done. Any other call is written as it is, behind the thread's queries so far.
  void add(const CallEvent& call, bool is_query, EventBatch& batch);
  /// Writes what has been gathered.
  void flush(EventBatch& batch);

 private:
  /// A thread's latest queries; of a query of the runtime, the driver's within it are another entry.
  std::vector<CallEvent> open_;
};

}  // namespace wicprof::collector
