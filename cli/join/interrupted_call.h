// The calls of the system that a thread sleeps in: which of them go on by themselves after the thread was stopped
// (signal(7), "Interruption of system calls and library functions by stop signals"), and how.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <sys/user.h>

namespace wicprof::cli {

/// What a thread does, as the system shows it without stopping the thread.
struct ThreadNow {
  /// How well a thread bears to be stopped, the best first.
  enum class Fit : std::uint8_t {
    repeats,    ///< asleep in a call that the system repeats
    computes,   ///< in its own code, or in a short call
    continues,  ///< asleep in a call with a time limit, which the system continues
    repeated,   ///< asleep in a call that the system gives up; who stops the thread has to repeat it
    unfit,
  };
  Fit fit = Fit::unfit;
  std::string why_unfit;
};
ThreadNow look_at_thread(pid_t pid, pid_t tid);

/// How a stopped thread goes on.
struct Continuation {
  bool asleep = false;          ///< it was in a call that has not ended
  bool waits_for_lock = false;  ///< in the C library's own way to wait for a lock
  user_regs_struct traced{};    ///< its registers, so that it goes on as if it had not been stopped
  /// The same for a thread that gets its registers from the end of a signal's handler, which no longer knows how much
  /// of a time limit is left: such a call then ends with EINTR, as it does after any handler.
  user_regs_struct alone{};
};
Continuation continuation_of(const user_regs_struct& stopped);

}  // namespace wicprof::cli
#endif
