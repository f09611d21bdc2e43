// The sessions that run now, as the command line names them.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

struct RunningSessions {
  std::vector<SessionInfo> sessions;
  std::vector<std::string> removed;  ///< names of sessions whose wic-prof had died; what they left was cleared away
};

Result<RunningSessions> running_sessions();

/// The session of that name, or the only one when `name` is empty. Errors list what there is.
Result<SessionInfo> choose_session(const std::string& name);

}  // namespace wicprof::cli
