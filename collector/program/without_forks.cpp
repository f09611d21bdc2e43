#include "collector/program/without_forks.h"

#include <pthread.h>

#include <utility>

namespace wicprof::collector {

namespace {

constexpr std::chrono::seconds kForkPatience{1};
std::timed_mutex loads;
thread_local bool forks = false;

void before_fork() noexcept { forks = loads.try_lock_for(kForkPatience); }

void after_fork() noexcept {
  if (std::exchange(forks, false)) loads.unlock();
}

}  // namespace

void WithoutForks::prepare() {
  [[maybe_unused]] static const int registered = pthread_atfork(before_fork, after_fork, after_fork);
}

WithoutForks::WithoutForks() {
  prepare();
  lock_ = std::unique_lock(loads, kForkPatience);
}

}  // namespace wicprof::collector
