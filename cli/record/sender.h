// Who sent a signal.
#pragma once

#include <sys/types.h>

#include <string>

namespace wicprof::cli {

/// Whether `sender` is the program `app`, one of its descendants, or a process that has its session from it:
/// descendants whose parents have ended are known by their environment. False for a sender that has ended: it could be
/// anybody.
bool is_of_program(pid_t sender, pid_t app, const std::string& session_path);

}  // namespace wicprof::cli
