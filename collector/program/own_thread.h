// Threads of ours in somebody else's program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

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

/// Runs `run` on a thread that takes no signals of the program. The result is not joinable where the system refuses a
/// thread, as it does beyond a limit of processes: the program goes on without what the thread would have done.
template <typename Run>
std::thread start_thread(Run&& run) {
  const WithoutSignals without;
  try {
    return std::thread(std::forward<Run>(run));
  } catch (const std::system_error&) {
    return {};
  }
}

/// For the trace: what is missing then, and the cure.
inline std::string refused_thread(const std::string& missing) {
  return "the system refused a thread (its limit of processes is reached: ulimit -u, or pids.max of the control "
         "group): " +
         missing;
}

}  // namespace wicprof::collector
