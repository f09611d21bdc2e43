// The stack of a stopped thread, frame by frame, from outside of its process.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/stacks/unwind_expression.h"

namespace wicprof::cli {

struct StackFrame {
  std::uint64_t code = 0;   ///< an address within the instruction that the frame is at: for callers, within the call
  std::uint64_t stack = 0;  ///< the stack's pointer there
};

struct StackWalk {
  std::vector<StackFrame> frames;  ///< the innermost first
  bool whole = false;              ///< up to the function that the thread began with
  bool in_signal = false;          ///< a handler of a signal has not returned; the walk ends there
};

/// `values`: the thread's registers; kReturnAddress is where it is.
StackWalk walk_stack(AddressSpace& memory, FrameValues values);

}  // namespace wicprof::cli
