#include "cli/join/called_thread.h"

#if defined(__x86_64__)
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

namespace wicprof::cli {

bool CalledThread::call(const user_regs_struct& before, const RemoteCall& call) const {
  user_regs_struct registers = before;
  registers.rip = call.function;
  registers.rsp = call.stack;
  registers.rdi = call.words[0];
  registers.rsi = call.words[1];
  registers.rdx = call.words[2];
  registers.rcx = call.words[3];
  registers.rax = 0;
  registers.orig_rax = ~0ULL;                         // the system continues no call that was interrupted
  constexpr unsigned long long kDirection = 1 << 10;  // clear at calls (System V ABI)
  registers.eflags &= ~kDirection;
  return thread_.set_registers(registers);
}

CalledThread::End CalledThread::land(std::uint64_t stack, TimeNs until) {
  for (;;) {
    if (!runs_ && !thread_.go_on_to_call()) return End::gone;
    runs_ = true;
    const Stop stop = thread_.wait(until);
    if (stop.kind == Stop::Kind::none) return End::late;
    if (stop.kind == Stop::Kind::gone) return End::gone;
    runs_ = false;
    if (stop.kind == Stop::Kind::signal || stop.kind == Stop::Kind::group) return End::disturbed;
    if (stop.kind == Stop::Kind::clone) created_ = stop.created;
    if (stop.kind != Stop::Kind::call) continue;
    if (!thread_.registers(registers_)) return End::gone;
    const bool at_end = static_cast<std::int64_t>(registers_.rax) != -ENOSYS;
    if (!at_end && registers_.rsp == stack && registers_.orig_rax != SYS_getppid) {
      result_ = std::exchange(registers_.orig_rax, SYS_getppid);
      if (!thread_.set_registers(registers_)) return End::gone;
    }
    if (registers_.orig_rax == SYS_getppid && at_end && (stack == 0 || registers_.rsp == stack)) return End::landed;
  }
}

}  // namespace wicprof::cli
#endif
