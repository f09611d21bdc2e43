// Messages for people: lines on stderr, so that stdout has only the answer.
#pragma once

#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

void note(std::string_view text);
void warn(std::string_view text);

/// Prints the error and returns its exit status.
int fail(const Error& error);

}  // namespace wicprof::cli
