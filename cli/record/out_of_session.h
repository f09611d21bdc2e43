// Why a process of the program may not have come to the session: it has lost the environment that names the session, or
// another user runs it. Most such processes have nothing to record, so the reason matters where nothing arrived.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>

namespace wicprof::cli {

class OutOfSession {
 public:
  /// Any thread; some 10 us. A process of which the system tells nothing counts as one that can come.
  void look(pid_t pid);

  /// Of the first process that could not come, with the cure; empty: each could. Any thread.
  std::string why();

 private:
  std::mutex mutex_;
  std::string why_;
};

}  // namespace wicprof::cli
