// A thread of another process that this thread traces (ptrace). The kernel lets the thread go on when its tracer ends,
// or when the tracer's thread does: so whoever holds one of these may go away at any moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "protocol/time.h"

#if defined(__x86_64__)
#include <sys/user.h>

namespace wicprof::cli {

/// Why a thread has stopped, or that it has not.
struct Stop {
  enum class Kind : std::uint8_t {
    none,    ///< it has not, in time
    gone,    ///< it has ended, or runs another program
    asked,   ///< interrupt() has stopped it, or it has just been created
    call,    ///< at the begin or the end of a call of the system
    clone,   ///< it has created a thread: `created`
    signal,  ///< before a signal: `number`, which is lost unless it is handed on
    group,   ///< by a signal that stops the process
  };
  Kind kind = Kind::none;
  int number = 0;
  pid_t created = 0;
};

/// All calls on the thread that has seized it. Each returns false where the thread is gone, or not stopped.
class TracedThread {
 public:
  explicit TracedThread(pid_t tid) : tid_(tid) {}

  pid_t tid() const { return tid_; }
  /// Begins to trace. The thread runs on. Returns 0 or errno.
  int seize() const;
  /// Asks the thread to stop; wait() says when it has. A stopped one stops again once it is to go on, before its first
  /// instruction.
  bool interrupt() const;
  Stop wait(TimeNs until) const;
  /// Goes on until it is asked, or something happens. `signal`: handed on.
  bool go_on(int signal = 0) const;
  /// Goes on until the next begin or end of a call of the system.
  bool go_on_to_call() const;
  /// Its new threads are traced, too, from before their first instruction.
  bool trace_new_threads(bool wanted) const;
  /// Ends tracing; the thread goes on.
  bool detach(int signal = 0) const;

  bool registers(user_regs_struct& to) const;
  bool set_registers(const user_regs_struct& from) const;
  /// Registers of vectors and of floating point, as XSAVE writes them; empty: not to be had.
  std::string vector_registers() const;
  bool set_vector_registers(const std::string& from) const;
  bool blocked_signals(std::uint64_t& to) const;
  bool set_blocked_signals(std::uint64_t mask) const;
  /// Where the thread is in a restartable sequence (rseq), its code would start anew after the thread has done
  /// something else.
  bool in_restartable_sequence(std::uint64_t at) const;

 private:
  pid_t tid_;
};

}  // namespace wicprof::cli
#endif
