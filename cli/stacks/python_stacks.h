// Which Python functions the threads of another process are in. Nothing is stopped and nothing is written: the process
// runs on, and what it changes meanwhile may be missed. CPython 3.11 to 3.13.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/stuck/stuck.h"

namespace wicprof::cli {

struct PythonStacks {
  /// By the number of the thread in the process's own PID namespace; the innermost function first, at most
  /// kMostPythonLines.
  std::map<std::uint32_t, std::vector<analyzer::PythonLine>> threads;
  bool refused = false;  ///< the process runs Python, and the system does not let this one look
};
inline constexpr std::size_t kMostPythonLines = 32;

/// Takes some milliseconds. Needs the right to trace the process.
PythonStacks python_stacks(pid_t pid);

}  // namespace wicprof::cli
