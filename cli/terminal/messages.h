// What wic-prof says to people while it works: lines on stderr, so that stdout is the answer's alone.
#pragma once

#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

void note(std::string_view text);
void warn(std::string_view text);

/// Prints the error and returns the exit status that belongs to it.
int fail(const Error& error);

}  // namespace wicprof::cli
