// The running sessions.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

struct RunningSessions {
  std::vector<SessionInfo> sessions;
  std::vector<std::string> removed;  ///< sessions whose wic-prof had died; their files are deleted now
};

Result<RunningSessions> running_sessions();

inline constexpr char kNoSession[] = "no session is running; start a program with wic-prof run -- APP";

/// The session with this name, or the only session if `name` is empty. Errors list the running sessions.
Result<SessionInfo> choose_session(const std::string& name);

}  // namespace wicprof::cli
