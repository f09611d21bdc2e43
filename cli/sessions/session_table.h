// The running sessions as a table for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/control_messages.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

/// A session, and what it answers about itself.
struct SessionAnswer {
  SessionInfo session;
  Result<SessionStatus> status;
};

/// Asks each session; one that does not answer takes a second.
std::vector<SessionAnswer> ask_sessions(const std::vector<SessionInfo>& sessions);

/// The file as the user would name it here: relative if it lies in `folder` or below, else as it is.
std::string path_from(const std::string& folder, const std::string& file);

/// The time of day of a time like 2026-01-31T23:59:59Z here, with the date unless that is today; "-" for any other
/// text. `today`: now, in seconds since 1970.
std::string local_time(const std::string& utc, long long today);

/// Each line starts with `indent` spaces. Where `width` has no room for the paths of the traces, each has a line of its
/// own.
std::string session_table(const std::vector<SessionAnswer>& all, std::size_t width, std::size_t indent);

}  // namespace wicprof::cli
