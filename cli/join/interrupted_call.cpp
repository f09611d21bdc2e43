#include "cli/join/interrupted_call.h"

#if defined(__x86_64__)
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

namespace wicprof::cli {

namespace {

using Words = std::array<std::uint64_t, 6>;

// What a call that a signal has interrupted returns within the kernel (include/linux/errno.h there).
constexpr std::int64_t kRestart = -512, kRestartAlways = -513, kRestartWithoutHandler = -514, kRestartBlock = -516;
constexpr int kEpollWait2 = 441, kPidfdOpen = 434, kPidfdGetFile = 438;

/// Of a socket of another process: whether its reads end after some time. True in doubt.
bool read_has_limit(pid_t pid, int file) {
  const int process = static_cast<int>(syscall(kPidfdOpen, pid, 0));
  const int copy = process < 0 ? -1 : static_cast<int>(syscall(kPidfdGetFile, process, file, 0));
  timeval limit{1, 0};
  socklen_t bytes = sizeof limit;
  const bool known = copy >= 0 && getsockopt(copy, SOL_SOCKET, SO_RCVTIMEO, &limit, &bytes) == 0;
  if (copy >= 0) close(copy);
  if (process >= 0) close(process);
  return !known || limit.tv_sec != 0 || limit.tv_usec != 0;
}

bool is_socket(pid_t pid, std::uint64_t file) {
  char target[64] = {};
  const std::string link = fmt::format("/proc/{}/fd/{}", pid, static_cast<int>(file));
  return readlink(link.c_str(), target, sizeof target - 1) > 0 && std::string_view(target).starts_with("socket:");
}

ThreadNow unfit(std::string why) { return {ThreadNow::Fit::unfit, std::move(why)}; }

ThreadNow in_call(pid_t pid, long number, const Words& words) {
  using Fit = ThreadNow::Fit;
  switch (number) {
    case SYS_futex:
      return {words[3] == 0 ? Fit::repeats : Fit::continues, {}};
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      if (is_socket(pid, words[0]) && read_has_limit(pid, static_cast<int>(words[0])))
        return unfit("reads from a socket with a time limit, which a stop would end early");
      return {Fit::repeats, {}};
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_select:
    case SYS_pselect6:
    case SYS_ppoll:
      return {Fit::repeats, {}};
    case SYS_poll:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_restart_syscall:
      return {Fit::continues, {}};
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      if (static_cast<int>(words[3]) == -1) return {Fit::repeated, {}};
      return unfit("is in epoll_wait with a time limit, which a stop would end early");
    case kEpollWait2:
      if (words[3] == 0) return {Fit::repeated, {}};
      return unfit("is in epoll_pwait2 with a time limit, which a stop would end early");
    default:
      return unfit(fmt::format("is in call {} of the system, which a stop might end early", number));
  }
}

/// Those that return EINTR after a stop, and can be made again: nothing has happened before they return that.
bool can_be_repeated(std::int64_t number) {
  constexpr std::int64_t kCalls[] = {SYS_epoll_wait, SYS_epoll_pwait, kEpollWait2,        SYS_semop,   SYS_semtimedop,
                                     SYS_read,       SYS_readv,       SYS_recvfrom,       SYS_recvmsg, SYS_accept,
                                     SYS_accept4,    SYS_recvmmsg,    SYS_io_getevents,   SYS_sendto,  SYS_sendmsg,
                                     SYS_write,      SYS_writev,      SYS_rt_sigtimedwait};
  return std::find(std::begin(kCalls), std::end(kCalls), number) != std::end(kCalls);
}

/// Whether such a call, made again, has the same end: its time limit is a time of day, or it has none.
bool is_exact_again(const user_regs_struct& at) {
  if (at.orig_rax == SYS_poll) return static_cast<int>(at.rdx) < 0;
  if (at.orig_rax == SYS_clock_nanosleep) return (at.rsi & 1) != 0;  // TIMER_ABSTIME
  const auto operation = static_cast<int>(at.rsi) & FUTEX_CMD_MASK;
  return at.orig_rax == SYS_futex && operation != FUTEX_WAIT;
}

user_regs_struct again(user_regs_struct registers) {
  registers.rax = registers.orig_rax;
  registers.rip -= 2;  // the instruction "syscall"
  registers.orig_rax = ~0ULL;
  return registers;
}

}  // namespace

ThreadNow look_at_thread(pid_t pid, pid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, tid));
  std::string first;
  if (!(file >> first)) return unfit("cannot be looked at");
  if (first == "running") return {ThreadNow::Fit::computes, {}};
  if (first == "-1") return unfit("waits for the system");
  Words words{};
  file >> std::hex;
  for (std::uint64_t& each : words) {
    std::string word;
    file >> word;
    each = std::strtoull(word.c_str(), nullptr, 16);
  }
  return in_call(pid, std::strtol(first.c_str(), nullptr, 10), words);
}

Continuation continuation_of(const user_regs_struct& stopped) {
  Continuation way;
  way.traced = way.alone = stopped;
  const auto number = static_cast<std::int64_t>(stopped.orig_rax), result = static_cast<std::int64_t>(stopped.rax);
  way.alone.orig_rax = ~0ULL;
  if (number < 0) return way;
  if (result == kRestart || result == kRestartAlways || result == kRestartWithoutHandler) {
    way.asleep = true;
    way.alone = again(stopped);
  } else if (result == kRestartBlock) {
    way.asleep = true;
    if (is_exact_again(stopped)) {
      way.alone = again(stopped);
    } else {
      way.alone.rax = static_cast<unsigned long long>(-EINTR);
    }
  } else if (result == -EINTR && can_be_repeated(number)) {
    way.asleep = true;
    way.traced = way.alone = again(stopped);
  }
  // A lock that somebody waits for has the value 2 (nptl/lowlevellock.c in glibc).
  way.waits_for_lock = way.asleep && number == SYS_futex &&
                       (static_cast<int>(stopped.rsi) & FUTEX_CMD_MASK) == FUTEX_WAIT && stopped.rdx == 2;
  return way;
}

}  // namespace wicprof::cli
#endif
