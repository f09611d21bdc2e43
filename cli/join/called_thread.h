// A thread of another process that calls functions for wic-prof. Wherever the tracer goes away, the thread goes on by
// itself: each call returns to the landing (CLibrary), and from there to what was before.
#pragma once

#include <array>
#include <cstdint>

#include "cli/join/traced_thread.h"

#if defined(__x86_64__)

namespace wicprof::cli {

struct RemoteCall {
  std::uint64_t function = 0;
  std::array<std::uint64_t, 4> words{};  ///< its first four parameters
  std::uint64_t stack = 0;               ///< the pointer of its stack, where the address of the landing lies
};

class CalledThread {
 public:
  enum class End : std::uint8_t {
    landed,     ///< the thread is stopped in the landing
    late,       ///< it runs still
    gone,       ///< it has ended
    disturbed,  ///< somebody stops the process; the thread is stopped
  };

  /// `thread`: seized. `runs`: not stopped.
  CalledThread(TracedThread thread, bool runs) : thread_(thread), runs_(runs) {}

  const TracedThread& thread() const { return thread_; }
  /// Lets the thread, which is stopped, call that once it goes on; its other registers become those of `before`. False:
  /// it is gone.
  bool call(const user_regs_struct& before, const RemoteCall& call) const;
  /// Lets the thread go on until it has made the landing's call of the system with `stack` as its stack's pointer (0:
  /// with any). After `late`, call again.
  End land(std::uint64_t stack, TimeNs until);

  /// Of the landing.
  const user_regs_struct& registers() const { return registers_; }
  /// What a function returned that had CLibrary::landing_call to return to.
  std::uint64_t result() const { return result_; }
  /// A thread that the thread has created meanwhile; 0: none.
  pid_t created() const { return created_; }

 private:
  TracedThread thread_;
  bool runs_;
  pid_t created_ = 0;
  std::uint64_t result_ = 0;
  user_regs_struct registers_{};
};

}  // namespace wicprof::cli
#endif
