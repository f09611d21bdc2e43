#include "collector/sources/equal_queries.h"

#include <algorithm>

namespace wicprof::collector {

namespace {

/// A thread that does something else for longer between two queries is seen to do so. Not calibrated.
constexpr std::int64_t kLongestGap = 10'000;

bool continues(const CallEvent& open, const CallEvent& next) {
  return open.name == next.name && open.result == next.result && next.start_ns >= open.end_ns &&
         next.start_ns - open.end_ns <= kLongestGap;
}

}  // namespace

void EqualQueries::add(const CallEvent& call, bool is_query, EventBatch& batch) {
  if (!is_query) {
    std::erase_if(open_, [&](const CallEvent& open) {
      if (open.thread != call.thread) return false;
      batch.write(open);
      return true;
    });
    batch.write(call);
    return;
  }
  const auto open = std::find_if(open_.begin(), open_.end(), [&](const CallEvent& each) {
    return each.thread == call.thread && each.api == call.api;
  });
  if (open == open_.end()) {
    open_.push_back(call);
  } else if (continues(*open, call)) {
    open->queries = std::max(open->queries, 1u) + 1;
    open->end_ns = call.end_ns;
  } else {
    batch.write(*open);
    *open = call;
  }
}

void EqualQueries::flush(EventBatch& batch) {
  for (const CallEvent& open : open_) batch.write(open);
  open_.clear();
}

}  // namespace wicprof::collector
