// Work that gives way to the recorded program and its recorder, but goes on where they use all cores.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>

namespace wicprof::gui {

/// Added to the nice value of the thread: about a tenth of a core is left beside a program that uses every core (the
/// kernel's weights are 110 and 1024). SCHED_IDLE left 0.3 %, and the window showed nothing for minutes.
inline constexpr int kNicer = 10;

/// Runs `work`, and the threads that it creates, at a lower priority; returns when it is done and passes its exceptions
/// on. Uses a new thread, because only a privileged thread can raise its priority again. Where the system refuses one,
/// the calling thread works, at its own priority.
template <class Work>
void at_low_priority(const Work& work) {
  const auto caller = static_cast<id_t>(syscall(SYS_gettid));
  const auto low = [&] {
    const auto thread = static_cast<id_t>(syscall(SYS_gettid));
    // 19 is the highest nice value; a higher one means 19. On refusal, works at normal priority.
    if (thread != caller) setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kNicer);
    work();
  };
  std::async(std::launch::async | std::launch::deferred, low).get();
}

}  // namespace wicprof::gui
