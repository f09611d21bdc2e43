// What a running session shows about a program that may hang: its table of open work, the growing trace, and /proc.
// Reads only; the program notices nothing.
#pragma once

#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "protocol/control_messages.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

struct SeenSession {
  analyzer::StuckView view;
  std::vector<std::string> not_seen;  ///< what could not be looked at, and why
};

/// Error: the session cannot be mapped.
Result<SeenSession> look_at_session(const SessionInfo& session, const SessionStatus& status);

/// What several sessions show, as of the last look.
SeenSession joined(std::vector<SeenSession> sessions);

}  // namespace wicprof::cli
