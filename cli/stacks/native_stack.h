// Which functions of machine code a thread of another process is in. Nothing is stopped: a thread that sleeps in a call
// of the system stays where it is.
#pragma once

#include <sys/types.h>

#include <vector>

#include "analyzer/stuck/stuck.h"

namespace wicprof::cli {

inline constexpr std::size_t kMostNativeFrames = 16;

/// The innermost function first, at most kMostNativeFrames. Empty: the thread runs, or may not be looked at. Ends early
/// where a caller's frame is found by a register whose content is not known, as in code without optimization. x86-64
/// only. Reads the programs' and libraries' tables of symbols, which takes some milliseconds; names of larger files
/// than 64 MiB are not known.
std::vector<analyzer::NativeFrame> native_stack(pid_t pid, pid_t thread);

}  // namespace wicprof::cli
