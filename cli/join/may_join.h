// Whether a library can be loaded into a process by ptrace, as far as can be seen without stopping the process.
#pragma once

#include <sys/types.h>

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// Error: why not, as what follows "cannot load the library into the process: ", and the cure where there is one.
/// `library`: the absolute path.
Result<> may_join(pid_t pid, const std::string& library);

/// Whether a process makes children by fork(), as a look of 60 ms shows.
bool makes_children(pid_t pid);

}  // namespace wicprof::cli
