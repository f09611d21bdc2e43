// A value that only the holder of its mutex can reach.
#pragma once

#include <mutex>
#include <utility>

namespace wic {

template <class T>
class Guarded {
 public:
  template <class... Arguments>
  explicit Guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

  /// Calls use(value) under the mutex and returns its result. Any thread; not from within `use`.
  template <class Use>
  decltype(auto) with(Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace wic
