#include "cli/record/terminal_signals.h"

#include <algorithm>

namespace wicprof::cli {

TerminalSignals::TerminalSignals() {
  sigemptyset(&watched_);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&watched_, number);
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    sigaddset(&watched_, SIGHUP);  // nohup
  pthread_sigmask(SIG_BLOCK, &watched_, &previous_);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;  // a closed pipe on stdout or stderr must not end the recording
  sigaction(SIGPIPE, &action, &previous_pipe_);
  action.sa_handler = SIG_DFL;  // an inherited SIG_IGN would discard the program's exit status
  sigaction(SIGCHLD, &action, &previous_child_);
}

TerminalSignals::~TerminalSignals() {
  // Pending signals were meant for the run: drop them, so that they do not end the work that follows.
  while (wait(0)) {
  }
  sigaction(SIGPIPE, &previous_pipe_, nullptr);
  sigaction(SIGCHLD, &previous_child_, nullptr);
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

std::optional<TerminalSignals::Signal> TerminalSignals::wait(TimeNs timeout) {
  timeout = std::max<TimeNs>(timeout, 0);
  timespec time{};
  time.tv_sec = timeout / kSecond;
  time.tv_nsec = timeout % kSecond;
  siginfo_t info{};
  const int number = sigtimedwait(&watched_, &info, &time);
  if (number <= 0) return std::nullopt;
  return Signal{number, info.si_code == SI_KERNEL};
}

}  // namespace wicprof::cli
