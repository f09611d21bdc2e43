// Threads and processes that were started by a thread with a shortened time slice, and have that slice, too.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

namespace wicprof::collector {

/// A new thread or process has the time slice of the thread that starts it. Linux has a flag against that
/// (SCHED_FLAG_RESET_ON_FORK), but it changes the niceness of new threads, too, the program can read it, and a thread
/// without privileges cannot take it back. So mend() gives the system's slice to those that have a shortened one and
/// did not shorten it themselves. Any thread.
class ShortSlices {
 public:
  /// The calling thread is about to shorten its own slice, or has restored it, or ends.
  void begin();
  void end(pid_t thread);

  /// Restores the slices of this process's other threads, and of each child process once, with its children: a child
  /// that shortens slices itself begins later. Costs a load while no slice is short.
  void mend();

 private:
  void mend_child(pid_t process);

  const pid_t process_ = getpid();  // in the child of a fork the lock may stay locked forever
  std::mutex mutex_;
  std::set<pid_t> short_;            // threads that have shortened their own slices
  std::set<pid_t> children_;         // that were looked at
  std::atomic<bool> needed_{false};  // a slice is short, or was when mend() looked last
};

}  // namespace wicprof::collector
