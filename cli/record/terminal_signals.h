// The signals that wic-prof takes while a program runs, as events to wait for instead of handlers. The table in the
// source says which: some end the run, some are the program's, some stop and continue both.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <optional>

#include "protocol/time.h"

namespace wicprof::cli {

/// A signal's handling as it was before, for the program. Filled and read by plain system calls.
struct PreviousSignals {
  static constexpr std::size_t kChanged = 3;
  sigset_t mask{};
  std::array<int, kChanged> numbers{};
  std::array<struct sigaction, kChanged> actions{};

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
    Use use;
  };

  TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals();

  /// The next signal; empty when none arrives within `timeout`.
  std::optional<Signal> wait(TimeNs timeout);

  /// Stops this process as Ctrl-Z does; returns when it continues. Returns at once where no shell could continue it.
  void stop_here();

  const PreviousSignals& previous() const { return previous_; }

 private:
  sigset_t watched_;
  PreviousSignals previous_;
};

}  // namespace wicprof::cli
