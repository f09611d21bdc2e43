// Work that uses only CPU time that no other thread of the machine wants.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <future>

namespace wicprof::gui {

/// Runs `work`, and the threads that it creates, on otherwise idle cores; returns when it is done and passes its
/// exceptions on. Uses a new thread, because only a privileged thread can leave SCHED_IDLE again.
template <class Work>
void in_idle_time(const Work& work) {
  const auto idle = [&] {
    const sched_param none{};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);  // on refusal, works at normal priority
    work();
  };
  std::async(std::launch::async, idle).get();
}

}  // namespace wicprof::gui
