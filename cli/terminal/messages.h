// Messages for people: lines on stderr, so that stdout has only the answer. A message that cannot be written (a closed
// stderr, a full disk, a lost terminal) is dropped: messages never fail, throw or wait for long.
#pragma once

#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

void note(std::string_view text) noexcept;
void warn(std::string_view text) noexcept;

/// Text as it is, such as the summary of a run. Waits for a slow reader.
void show(std::string_view text) noexcept;

/// A part of a line that is rewritten in place; dropped where the terminal does not take it at once.
void show_progress(std::string_view text) noexcept;

/// Prints the error and returns its exit status. Waits for a slow reader.
int fail(const Error& error) noexcept;

/// The same where memory is lacking. `otherwise`: what helps besides more of it.
int fail_without_memory(const char* otherwise) noexcept;

}  // namespace wicprof::cli
