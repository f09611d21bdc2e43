// Threads of ours in somebody else's program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "protocol/thread.h"

namespace wicprof::collector {

/// The calling thread takes no signals for the object's lifetime, and threads that it starts take none at all.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

/// As start_thread(), for a thread that takes no signals of the program.
template <typename Run>
std::thread start_own_thread(Run&& run) {
  const WithoutSignals without;
  return start_thread(std::forward<Run>(run));
}

}  // namespace wicprof::collector
