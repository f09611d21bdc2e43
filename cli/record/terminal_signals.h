// The signals that end a run, and the one that says that the program ended, as readable events instead of handlers.
#pragma once

#include <signal.h>

#include <optional>

#include "protocol/time.h"

namespace wicprof::cli {

/// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD in this thread and every one it starts, for as long as it lives.
class TerminalSignals {
 public:
  struct Signal {
    int number;
    bool from_terminal;  ///< the terminal sends Ctrl-C to the program as well
  };

  TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals();

  /// The next signal, or nothing when none has come within `timeout`.
  std::optional<Signal> wait(TimeNs timeout);

  /// What was in force before: a started program gets it back.
  const sigset_t& previous_mask() const { return previous_; }

 private:
  sigset_t watched_;
  sigset_t previous_;
  struct sigaction previous_pipe_ {};
  struct sigaction previous_child_ {};
};

}  // namespace wicprof::cli
