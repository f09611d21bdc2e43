// Finds the program to start, the way a shell would.
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// The path of `name`; a name without a slash is looked up in PATH. Errors: not found, not a file, not executable.
Result<std::string> find_program(const std::string& name);

}  // namespace wicprof::cli
