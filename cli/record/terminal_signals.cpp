#include "cli/record/terminal_signals.h"

#include <algorithm>

namespace wicprof::cli {

namespace {

using Use = TerminalSignals::Use;

struct Entry {
  int number;
  Use use;
  bool even_if_ignored;    // otherwise a signal that is ignored at the start (nohup) stays ignored
  bool terminal_sends_it;  // to the whole foreground group
};
// Real-time signals, which have no constant numbers, are the program's, too.
constexpr Entry kTable[] = {
    {SIGINT, Use::ends_run, true, true},       {SIGTERM, Use::ends_run, true, false},
    {SIGHUP, Use::ends_run, false, true},      {SIGQUIT, Use::for_program, false, true},
    {SIGUSR1, Use::for_program, false, false}, {SIGUSR2, Use::for_program, false, false},
    {SIGALRM, Use::for_program, false, false}, {SIGVTALRM, Use::for_program, false, false},
    {SIGPROF, Use::for_program, false, false}, {SIGIO, Use::for_program, false, false},
    {SIGXCPU, Use::for_program, false, false}, {SIGPWR, Use::for_program, false, false},
    {SIGWINCH, Use::for_program, true, true},  {SIGTSTP, Use::stops, false, true},
    {SIGCONT, Use::continues, true, false},    {SIGCHLD, Use::child_changed, true, false},
};

struct Change {
  int number;
  void (*action)(int);
};
const std::array<Change, PreviousSignals::kChanged> kChanges = {{
    {SIGPIPE, SIG_IGN},  // a closed pipe on stdout or stderr must not end the recording
    {SIGTTOU, SIG_IGN},  // nor must a terminal stop it, because the program has taken the foreground
    {SIGCHLD, SIG_DFL},  // an inherited SIG_IGN would discard the program's exit status
}};

const Entry* entry_of(int number) {
  const auto found =
      std::find_if(std::begin(kTable), std::end(kTable), [&](const Entry& e) { return e.number == number; });
  return found == std::end(kTable) ? nullptr : &*found;
}

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void PreviousSignals::restore() const noexcept {
  for (std::size_t i = 0; i < kChanged; ++i) sigaction(numbers[i], &actions[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

TerminalSignals::TerminalSignals() {
  sigemptyset(&watched_);
  for (const Entry& entry : kTable) {
    if (entry.even_if_ignored || !is_ignored(entry.number)) sigaddset(&watched_, entry.number);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    if (!is_ignored(number)) sigaddset(&watched_, number);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &previous_.mask);
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = kChanges[i].action;
    previous_.numbers[i] = kChanges[i].number;
    sigaction(kChanges[i].number, &action, &previous_.actions[i]);
  }
}

TerminalSignals::~TerminalSignals() {
  // Pending signals were meant for the run: drop them, so that they do not end the work that follows.
  while (wait(0)) {
  }
  previous_.restore();
}

std::optional<TerminalSignals::Signal> TerminalSignals::wait(TimeNs timeout) {
  timeout = std::max<TimeNs>(timeout, 0);
  timespec time{};
  time.tv_sec = timeout / kSecond;
  time.tv_nsec = timeout % kSecond;
  siginfo_t info{};
  const int number = sigtimedwait(&watched_, &info, &time);
  if (number <= 0) return std::nullopt;
  const Entry* const entry = entry_of(number);
  const bool from_kernel = info.si_code == SI_KERNEL;
  return Signal{number, from_kernel, from_kernel && entry != nullptr && entry->terminal_sends_it,
                entry != nullptr ? entry->use : Use::for_program};
}

void TerminalSignals::stop_here() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace wicprof::cli
