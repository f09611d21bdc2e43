// How a thread gets back to where it was, by itself: what the kernel puts on a stack for a handler of a signal, so that
// the end of the handler (rt_sigreturn) restores all registers and the blocked signals.
#pragma once

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <sys/user.h>

namespace wicprof::cli {

struct ReturnFrame {
  std::uint64_t stack = 0;   ///< what a function that is called on top of the frame finds as its stack's pointer
  std::uint64_t landed = 0;  ///< the stack's pointer once that function has returned to the landing
  std::uint64_t spare = 0;   ///< 128 bytes that nobody uses, for parameters
  std::string bytes;         ///< of the stack, from `stack` on
};

/// `vectors`: as NT_X86_XSTATE has them. `landing`, `signal_return`: of CLibrary. The frame lies below the red zone of
/// `registers.rsp`. Empty `bytes`: the registers of vectors have a form that is not known.
ReturnFrame return_frame(const user_regs_struct& registers, std::string vectors, std::uint64_t blocked_signals,
                         std::uint64_t landing, std::uint64_t signal_return);

}  // namespace wicprof::cli
#endif
