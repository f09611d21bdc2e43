// Work that takes only what no other thread of the machine wants.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace wicprof::gui {

/// While it lives, the calling thread and the threads that it makes run on cores that would be idle. Not to be held across a
/// lock that others wait for: a thread that has such a core taken away keeps it.
class IdleTime {
 public:
  explicit IdleTime(bool wanted = true) {
    sched_param none{};
    changed_ = wanted && pthread_getschedparam(pthread_self(), &policy_, &param_) == 0 && policy_ == SCHED_OTHER &&
               pthread_setschedparam(pthread_self(), SCHED_IDLE, &none) == 0;
  }
  ~IdleTime() {
    if (changed_) pthread_setschedparam(pthread_self(), policy_, &param_);
  }
  IdleTime(const IdleTime&) = delete;

 private:
  int policy_ = SCHED_OTHER;
  sched_param param_{};
  bool changed_ = false;
};

}  // namespace wicprof::gui
