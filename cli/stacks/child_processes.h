#pragma once

#include <sys/types.h>

#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

/// The children of a process, ended ones that nobody has waited for included. Error: the process is gone, or the kernel
/// has no such list.
Result<std::vector<pid_t>> child_processes(pid_t of);

}  // namespace wicprof::cli
