// The signals that wic-prof takes while a program runs, as events to wait for instead of handlers. The table in the
// source says which: some end the run, some are the program's, some stop and continue both.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "protocol/time.h"

namespace wicprof::cli {

/// A signal's handling as it was before, for the program. Filled and read by plain system calls.
struct PreviousSignals {
  sigset_t mask{};

  /// In a child between fork() and exec(). Async-signal-safe.
  void restore() const noexcept;
};

/// Blocks the table's signals in this thread and the threads that it starts, for its own lifetime.
class TerminalSignals {
 public:
  enum class Use {
    ends_run,      ///< Ctrl-C and other requests to end
    for_program,   ///< of no concern to wic-prof
    stops,         ///< Ctrl-Z
    continues,     ///< SIGCONT
    child_changed  ///< SIGCHLD
  };
  struct Signal {
    int number;
    bool from_kernel;    ///< no process has sent it
    bool from_terminal;  ///< the terminal sends it to all processes of its foreground group
    bool from_program;   ///< is_program() says so
    Use use;
  };

  /// What happens to requests to end that nobody takes, since the thread that should waits for a disk, say.
  struct Unheard {
    std::size_t requests;                  ///< so many
    TimeNs patience;                       ///< the first of them so old
    std::function<void(int signal)> act;   ///< on a thread of its own, which takes no signal meanwhile
    std::function<void()> warn = nullptr;  ///< once a request is as old; must return soon
  };

  TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals();

  /// Whether a process belongs to the program, so that its signals are no requests to end. Any thread calls it.
  void know_program(std::function<bool(pid_t sender)> is_program);

  /// From now on a thread of this object takes the signals, so that requests are heard whatever other threads wait in.
  /// Again: replaces what happens. Throws where the system has no thread.
  void watch(Unheard unheard);

  /// From now on requests end this process at once, with this exit status, and Ctrl-Z stops it: nobody takes signals
  /// any more. Drops those that nobody has taken. On the thread that calls wait().
  void end_with(int status);

  /// The next signal; empty when none arrives within `timeout`. One thread.
  std::optional<Signal> wait(TimeNs timeout);

  /// Whether there is a request to end that wait() has not returned yet. Any thread; needs watch().
  bool has_request();

  /// Stops this process as Ctrl-Z does; returns when it continues. Returns at once where no shell could continue it.
  void stop_here();

  const PreviousSignals& previous() const { return previous_; }

 private:
  struct Arrived {
    Signal signal;
    TimeNs at;
    bool is_request() const { return signal.use == Use::ends_run && !signal.from_program; }
  };

  std::optional<Signal> take(TimeNs timeout);
  void take_all();
  void note(const Signal& signal);

  sigset_t watched_;
  PreviousSignals previous_;
  std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  std::function<bool(pid_t)> is_program_;
  Unheard unheard_{};
  std::deque<Arrived> arrived_;
  bool warned_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
