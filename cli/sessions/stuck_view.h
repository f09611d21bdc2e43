// What a running session shows about a program that may hang: its table of open work, the growing trace, and /proc.
// Reads only; the program notices nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "protocol/control_messages.h"
#include "protocol/open_work.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

struct SeenSession {
  analyzer::StuckView view;
  std::vector<std::string> not_seen;  ///< what could not be looked at, and why
};

/// What the session's tables and /proc show of `app` and of the processes that are in the tables. Waits for nobody: of
/// the words of patched loops, as the collectors saw them last.
analyzer::StuckView look_at_work(const OpenWork& work, std::uint32_t app);

/// Adds the processes that those of the view have started themselves, where they are alive.
void add_children(analyzer::StuckView& view);

/// Adds where the threads of the view are in Python, and where the first thread of other processes is in machine code.
/// Takes some milliseconds per process; once `patience` has passed, the other processes are left out. Returns the
/// processes in Python that the system does not let this one look into.
std::vector<std::uint32_t> add_stacks(analyzer::StuckView& view, TimeNs patience = 60 * kSecond);

/// Error: the session cannot be mapped.
Result<SeenSession> look_at_session(const SessionInfo& session, const SessionStatus& status);

/// What several sessions show, as of the last look.
SeenSession joined(std::vector<SeenSession> sessions);

}  // namespace wicprof::cli
