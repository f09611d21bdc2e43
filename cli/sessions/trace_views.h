// What the ranks of a job were in when their recordings ended, from their traces.
#pragma once

#include <string>
#include <vector>

#include "cli/sessions/stuck_view.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// The traces of one job as one view, in any order; all times are on the clock of the first rank's trace. Where traces
/// of several machines have one pid, a process has another number, and its own in SeenProcess::own_pid. Errors, which
/// name the file: it cannot be read, or its trace keeps nothing of what is open; or the traces are of different jobs,
/// or one rank is in two of them.
Result<SeenSession> look_at_traces(const std::vector<std::string>& files);

}  // namespace wicprof::cli
