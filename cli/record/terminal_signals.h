// The signals that end a run, and SIGCHLD, as events to wait for instead of handlers.
#pragma once

#include <signal.h>

#include <optional>

#include "protocol/time.h"

namespace wicprof::cli {

/// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD in this thread and the threads that it starts, for its own lifetime.
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

  /// The next signal; empty when none arrives within `timeout`.
  std::optional<Signal> wait(TimeNs timeout);

  /// The previous mask, which a started program gets back.
  const sigset_t& previous_mask() const { return previous_; }

 private:
  sigset_t watched_;
  sigset_t previous_;
  struct sigaction previous_pipe_ {};
  struct sigaction previous_child_ {};
};

}  // namespace wicprof::cli
