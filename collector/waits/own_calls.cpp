#include "collector/waits/own_calls.h"

#include <algorithm>
#include <limits>

namespace wicprof::collector {

void OwnCalls::begin(std::uint32_t thread, TimeNs now) {
  const std::lock_guard lock(mutex_);
  std::deque<Times>& times = by_thread_[thread];
  times.push_back({now, std::numeric_limits<TimeNs>::max()});
  if (times.size() > kKept) times.pop_front();
}

void OwnCalls::end(std::uint32_t thread, TimeNs now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_thread_.find(thread);
  if (found != by_thread_.end() && !found->second.empty()) found->second.back().end = now;
}

void OwnCalls::thread_ended(std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  if (!by_thread_.contains(thread)) return;
  ended_.push_back(thread);
  if (ended_.size() <= kKeptThreads) return;
  by_thread_.erase(ended_.front());  // a later thread with that number loses its times, too
  ended_.pop_front();
}

bool OwnCalls::made(std::uint32_t thread, TimeNs begin) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return false;
  const std::deque<Times>& times = found->second;
  const auto after = std::upper_bound(times.begin(), times.end(), begin,
                                      [](TimeNs time, const Times& one) { return time < one.begin; });
  return after != times.begin() && begin <= std::prev(after)->end;
}

}  // namespace wicprof::collector
