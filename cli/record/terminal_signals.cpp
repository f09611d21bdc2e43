#include "cli/record/terminal_signals.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace wicprof::cli {

namespace {

using Use = TerminalSignals::Use;

constexpr TimeNs kLookAtRequests = 100 * kMillisecond;  // between two looks at requests that nobody takes
constexpr TimeNs kLongWait = 60 * kSecond;              // without any, only a signal matters
constexpr std::size_t kMostKept = 1000;                 // signals that nobody takes

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
  // By itself: pthread_sigmask() would unblock the C library's own signals.
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, _NSIG / 8);
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
}

TerminalSignals::~TerminalSignals() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    pthread_kill(thread_.native_handle(), SIGCONT);  // ends its wait
    thread_.join();
  }
  // Pending signals were meant for the run: drop them, so that they do not end the work that follows.
  while (take(0)) {
  }
  previous_.restore();
}

void TerminalSignals::know_program(std::function<bool(pid_t)> is_program) {
  const std::lock_guard lock(mutex_);
  is_program_ = std::move(is_program);
}

void TerminalSignals::watch(Unheard unheard) {
  {
    const std::lock_guard lock(mutex_);
    unheard_ = std::move(unheard);
    warned_ = false;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { take_all(); });
}

void TerminalSignals::end_with(int status) {
  while (wait(0)) {
  }
  watch({1, 0, [status](int) { _exit(status); }});
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
}

std::optional<TerminalSignals::Signal> TerminalSignals::wait(TimeNs timeout) {
  if (!thread_.joinable()) return take(timeout);
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, std::chrono::nanoseconds(std::max<TimeNs>(timeout, 0)),
                         [&] { return !arrived_.empty(); })) {
    return std::nullopt;
  }
  const Signal signal = arrived_.front().signal;
  arrived_.pop_front();
  return signal;
}

bool TerminalSignals::has_request() {
  const std::lock_guard lock(mutex_);
  return std::any_of(arrived_.begin(), arrived_.end(), [](const Arrived& one) { return one.is_request(); });
}

std::optional<TerminalSignals::Signal> TerminalSignals::take(TimeNs timeout) {
  timeout = std::max<TimeNs>(timeout, 0);
  timespec time{};
  time.tv_sec = timeout / kSecond;
  time.tv_nsec = timeout % kSecond;
  siginfo_t info{};
  const int number = sigtimedwait(&watched_, &info, &time);
  if (number <= 0) return std::nullopt;
  const Entry* const entry = entry_of(number);
  Signal signal{number, info.si_code == SI_KERNEL, false, false, entry != nullptr ? entry->use : Use::for_program};
  signal.from_terminal = signal.from_kernel && entry != nullptr && entry->terminal_sends_it;
  const bool sent = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
  std::function<bool(pid_t)> is_program;
  {
    const std::lock_guard lock(mutex_);
    is_program = is_program_;
  }
  // At once: a sender may be about to end.
  signal.from_program = sent && is_program && is_program(info.si_pid);
  return signal;
}

void TerminalSignals::take_all() {
  pthread_setname_np(pthread_self(), "wicprof-signals");
  std::unique_lock lock(mutex_);
  bool unheard = false;
  while (!stop_) {
    lock.unlock();
    try {
      if (const std::optional<Signal> signal = take(unheard ? kLookAtRequests : kLongWait)) note(*signal);
    } catch (const std::exception&) {  // no memory: the signal is lost
    }
    lock.lock();
    const auto first = std::find_if(arrived_.begin(), arrived_.end(), [](const Arrived& a) { return a.is_request(); });
    unheard = first != arrived_.end();
    if (!unheard || now_ns() - first->at < unheard_.patience) continue;
    const auto requests = std::count_if(first, arrived_.end(), [](const Arrived& one) { return one.is_request(); });
    if (unheard_.act && static_cast<std::size_t>(requests) >= unheard_.requests) {
      const auto act = unheard_.act;
      const int number = first->signal.number;
      lock.unlock();
      act(number);
      lock.lock();
    } else if (unheard_.warn && !std::exchange(warned_, true)) {
      unheard_.warn();
    }
  }
}

void TerminalSignals::note(const Signal& signal) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Arrived& one) { return one.signal.number == signal.number; };
  // Where nobody takes them, all but the requests are kept once, as the system keeps them.
  if (arrived_.size() < kMostKept && (signal.use == Use::ends_run || signal.number >= SIGRTMIN ||
                                      std::none_of(arrived_.begin(), arrived_.end(), same))) {
    arrived_.push_back({signal, now_ns()});
  }
  changed_.notify_all();
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
