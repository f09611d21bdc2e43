// The session that a command changes.
#pragma once

#include <string>
#include <vector>

#include "cli/sessions/session_table.h"
#include "protocol/control_messages.h"
#include "protocol/result.h"

namespace wicprof::cli {

struct AnsweringSession {
  SessionInfo session;
  SessionStatus status;
};

/// The error, with the session's name in front.
Error in_session(const SessionInfo& session, const Error& error);

/// The session with this name; without a name, the only session from this folder or this terminal (place.h), so that
/// nobody changes another's program by accident. Otherwise lists the running sessions on stderr; the error then names
/// `command` with one of them.
Result<AnsweringSession> session_to_change(const std::string& name, const std::string& command);
/// The same. `jobs`: where several sessions from here record the ranks of one job (job.h), all of these.
Result<std::vector<AnsweringSession>> sessions_to_change(const std::string& name, const std::string& command,
                                                         bool jobs);

}  // namespace wicprof::cli
