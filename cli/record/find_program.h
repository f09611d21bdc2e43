// Finds the program to start, the way a shell would.
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

/// The path of `name`, looked up in PATH when it has no slash. Errors: not found, not executable.
Result<std::string> find_program(const std::string& name);

}  // namespace wicprof::cli
