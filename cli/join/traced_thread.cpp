#include "cli/join/traced_thread.h"

#if defined(__x86_64__)
#include <elf.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

namespace wicprof::cli {

namespace {

// Of <linux/ptrace.h>, which older systems do not have, or which does not go together with <sys/ptrace.h>.
constexpr auto kGetSignalMask = static_cast<__ptrace_request>(0x420a);
constexpr auto kSetSignalMask = static_cast<__ptrace_request>(0x420b);
constexpr auto kGetRestartableSequences = static_cast<__ptrace_request>(0x420f);
constexpr int kStopEvent = 128;

constexpr TimeNs kImpatient = 200 * kMicrosecond;  // meanwhile, other threads get the CPU, but this one takes no sleep
constexpr useconds_t kNap = 50;

bool asked(__ptrace_request request, pid_t tid, void* address, std::uintptr_t data) {
  return ptrace(request, tid, address, reinterpret_cast<void*>(data)) == 0;
}

Stop as_stop(pid_t tid, int status) {
  if (!WIFSTOPPED(status)) return {Stop::Kind::gone};
  const int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_CLONE) {
    unsigned long created = 0;
    ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &created);
    return {Stop::Kind::clone, 0, static_cast<pid_t>(created)};
  }
  if (event == kStopEvent) return {signal == SIGTRAP ? Stop::Kind::asked : Stop::Kind::group, signal};
  if (event != 0) return {Stop::Kind::gone};
  if (signal == (SIGTRAP | 0x80)) return {Stop::Kind::call};
  return {Stop::Kind::signal, signal};
}

}  // namespace

int TracedThread::seize() const { return asked(PTRACE_SEIZE, tid_, nullptr, PTRACE_O_TRACESYSGOOD) ? 0 : errno; }

bool TracedThread::interrupt() const { return asked(PTRACE_INTERRUPT, tid_, nullptr, 0); }

Stop TracedThread::wait(TimeNs until) const {
  const TimeNs began = now_ns();
  for (;;) {
    int status = 0;
    const pid_t found = waitpid(tid_, &status, __WALL | __WNOTHREAD | WNOHANG);
    if (found == tid_) return as_stop(tid_, status);
    if (found < 0 && errno != EINTR) return {Stop::Kind::gone};
    const TimeNs now = now_ns();
    if (now >= until) return {};
    if (now - began < kImpatient) {
      sched_yield();
    } else {
      usleep(kNap);
    }
  }
}

bool TracedThread::go_on(int signal) const {
  return asked(PTRACE_CONT, tid_, nullptr, static_cast<std::uintptr_t>(signal));
}

bool TracedThread::go_on_to_call() const { return asked(PTRACE_SYSCALL, tid_, nullptr, 0); }

bool TracedThread::trace_new_threads(bool wanted) const {
  return asked(PTRACE_SETOPTIONS, tid_, nullptr, PTRACE_O_TRACESYSGOOD | (wanted ? PTRACE_O_TRACECLONE : 0));
}

bool TracedThread::detach(int signal) const {
  return asked(PTRACE_DETACH, tid_, nullptr, static_cast<std::uintptr_t>(signal));
}

bool TracedThread::registers(user_regs_struct& to) const {
  return asked(PTRACE_GETREGS, tid_, nullptr, reinterpret_cast<std::uintptr_t>(&to));
}

bool TracedThread::set_registers(const user_regs_struct& from) const {
  return asked(PTRACE_SETREGS, tid_, nullptr, reinterpret_cast<std::uintptr_t>(&from));
}

std::string TracedThread::vector_registers() const {
  std::string bytes(std::size_t{32} << 10, '\0');  // all that processors have today take 11 KiB
  iovec part{bytes.data(), bytes.size()};
  const bool read =
      asked(PTRACE_GETREGSET, tid_, reinterpret_cast<void*>(NT_X86_XSTATE), reinterpret_cast<std::uintptr_t>(&part));
  bytes.resize(read && part.iov_len < bytes.size() ? part.iov_len : 0);
  return bytes;
}

bool TracedThread::set_vector_registers(const std::string& from) const {
  iovec part{const_cast<char*>(from.data()), from.size()};
  return asked(PTRACE_SETREGSET, tid_, reinterpret_cast<void*>(NT_X86_XSTATE), reinterpret_cast<std::uintptr_t>(&part));
}

bool TracedThread::blocked_signals(std::uint64_t& to) const {
  return asked(kGetSignalMask, tid_, reinterpret_cast<void*>(sizeof to), reinterpret_cast<std::uintptr_t>(&to));
}

bool TracedThread::set_blocked_signals(std::uint64_t mask) const {
  return asked(kSetSignalMask, tid_, reinterpret_cast<void*>(sizeof mask), reinterpret_cast<std::uintptr_t>(&mask));
}

bool TracedThread::in_restartable_sequence(std::uint64_t at) const {
  struct Configuration {
    std::uint64_t area;
    std::uint32_t bytes, signature, flags, reserved;
  } configuration{};
  const long got = ptrace(kGetRestartableSequences, tid_, sizeof configuration, &configuration);
  if (got <= 0 || configuration.area == 0) return false;  // the thread has none, or the system knows none
  struct Sequence {
    std::uint32_t version, flags;
    std::uint64_t begin, bytes, otherwise;
  } sequence{};
  const auto read = [&](std::uint64_t from, void* to, std::size_t bytes) {
    const iovec here{to, bytes}, there{reinterpret_cast<void*>(from), bytes};
    return process_vm_readv(tid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
  };
  std::uint64_t current = 0;
  constexpr std::uint64_t kCurrent = 8;  // in the area
  if (!read(configuration.area + kCurrent, &current, sizeof current) || current == 0) return false;
  return read(current, &sequence, sizeof sequence) && at - sequence.begin < sequence.bytes;
}

}  // namespace wicprof::cli
#endif
