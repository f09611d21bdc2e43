// Loads a library into a process that runs already (ptrace): one thread of the process, stopped in a safe place, makes
// a new thread, which loads the library and starts it; the first goes on exactly where it was.
//
//   one thread of the process        pthread_create() -> its registers as before
//   the new one                      getppid(): stopped there -> dlopen() -> InitializeInjection() -> it ends
//
// The loader thus runs on a thread of its own, however long it takes, and no thread of the program has its stack, its
// errno or its signals in the loader's hands. Where wic-prof is killed in between, both threads go on by themselves:
// the first by what it finds on its stack (return_frame.h), the new one to its end.
#pragma once

#include <sys/types.h>

#include <string>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct Joined {
  TimeNs stopped = 0;  ///< of the process's threads, how long in all
};

/// Loads the library of that absolute path into the process, and calls its function `start` without parameters. Takes
/// up to some seconds. Error: as of may_join(), after which the process goes on as before.
Result<Joined> join_process(pid_t pid, const std::string& library, const std::string& start);

}  // namespace wicprof::cli
