// Threads that the system may refuse.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace wicprof {

/// Runs `run` on a new thread. The result is not joinable where the system refuses a thread, as it does beyond a limit
/// of processes.
template <typename Run>
std::thread start_thread(Run&& run) {
  try {
    return std::thread(std::forward<Run>(run));
  } catch (const std::system_error&) {
    return {};
  }
}

/// For the user: what is missing then, and the cure.
inline std::string refused_thread(const std::string& missing) {
  return "the system refused a thread (its limit of processes is reached: ulimit -u, or pids.max of the control "
         "group): " +
         missing;
}

}  // namespace wicprof
