// Keeps the program's fork() waiting while this library has others loaded: a child has the loader as it is at the
// moment of the fork, and may hang or crash in one that is in the middle of its work.
#pragma once

#include <chrono>
#include <mutex>

namespace wicprof::collector {

/// fork() waits while another thread has one, for at most a second. vfork(), posix_spawn() and clone() do not wait: no
/// child of theirs goes on with the loader's data. Waits itself for a fork() in progress.
class WithoutForks {
 public:
  /// Call long before the first one is made: a fork() that is in progress then waits for none.
  static void prepare();
  WithoutForks();

 private:
  std::unique_lock<std::timed_mutex> lock_;
};

}  // namespace wicprof::collector
