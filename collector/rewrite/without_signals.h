// Threads that begin while an object lives take no signals of the program.
#pragma once

#include <pthread.h>
#include <signal.h>

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

}  // namespace wicprof::collector
