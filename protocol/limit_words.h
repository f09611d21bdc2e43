// Which of this process's limits may be the cause where the system refuses memory, a thread or a process.
#pragma once

#include <sys/resource.h>

#include <exception>
#include <new>
#include <string>

namespace wicprof {

/// "ulimit -d", "ulimit -v or ulimit -d"; empty: its memory has no limit.
inline std::string memory_limits() {
  std::string names;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) names = "ulimit -v";
  if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    names += std::string(names.empty() ? "" : " or ") + "ulimit -d";
  }
  return names;
}

/// The system gives the same answer for threads beyond any of these.
inline std::string thread_limits() {
  const std::string memory = memory_limits();
  return memory.empty() ? "ulimit -u" : memory + ", or ulimit -u";
}

/// What helps a process whose memory does not suffice.
inline std::string memory_cure() {
  const std::string limits = memory_limits();
  return limits.empty() ? "free some memory" : "raise " + limits;
}

/// What an exception says, in words for people.
inline std::string reason_of(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return "out of memory; " + memory_cure();
  return e.what();
}

}  // namespace wicprof
