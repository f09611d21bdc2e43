// Work that takes only what no other thread of the machine wants.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <future>

namespace wicprof::gui {

/// Does `work` on cores that would be idle, with the threads that it makes, and returns when it is done; throws what it
/// throws. On a thread of its own: only a privileged one can come back from there.
template <class Work>
void in_idle_time(const Work& work) {
  const auto idle = [&] {
    const sched_param none{};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);  // where that is refused the work is done all the same
    work();
  };
  std::async(std::launch::async, idle).get();
}

}  // namespace wicprof::gui
