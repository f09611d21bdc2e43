// Threads that the system may refuse.
#pragma once

#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "protocol/limit_words.h"

namespace wicprof {

/// Runs `run` on a new thread. The result is not joinable where the system refuses a thread, as it does beyond a limit
/// of processes.
template <typename Run>
std::thread start_thread(Run&& run) {
  try {
    return std::thread(std::forward<Run>(run));
  } catch (const std::exception&) {  // std::bad_alloc, too
    return {};
  }
}

/// For the user: what is missing then, and the cure.
inline std::string refused_thread(const std::string& missing) {
  return "the system refused a thread (a limit is reached: " + thread_limits() +
         ", or pids.max of the control group): " + missing;
}

}  // namespace wicprof
