// Text to a file descriptor, whole, whatever the descriptor is: a file, a pipe, a terminal that may be gone.
#pragma once

#include <string_view>

#include "protocol/time.h"

namespace wicprof::cli {

inline constexpr TimeNs kForever = -1;

/// Writes all of `text`. Waits while the reader is slow, for at most `timeout` without progress. Returns 0, or the
/// errno of the failure (EAGAIN: the reader was too slow). Any thread.
int write_text(int fd, std::string_view text, TimeNs timeout = kForever) noexcept;

}  // namespace wicprof::cli
