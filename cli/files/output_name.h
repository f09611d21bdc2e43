// Output names with placeholders: %p a process id, %h the host's name, %q{VAR} an environment variable, %% a percent
// sign.
#pragma once

#include <sys/types.h>

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// Errors: an unknown placeholder; a variable that is not set.
Result<std::string> expand_output_name(const std::string& pattern, pid_t pid);

/// A pattern that stands for exactly this name.
std::string literal_name(const std::string& name);

/// The pattern of a program's trace for which nobody names another.
std::string usual_trace_name(const std::string& program);

/// The pattern with `part` before its .wicprof, or at its end: "halo.wicprof" and "3" give "halo.3.wicprof".
std::string numbered(const std::string& pattern, const std::string& part);

/// The last part of a path.
std::string base_name(const std::string& path);

std::string host_name();

}  // namespace wicprof::cli
