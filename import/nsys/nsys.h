// Reads what nsys export --type sqlite writes: schemas 2.9 to 3.25. Environment, command lines and output of the
// program are not read.
#pragma once

#include <string>

#include "import/trace/host_waits.h"
#include "import/trace/origin.h"
#include "import/trace/progress.h"
#include "import/trace/target.h"
#include "protocol/result.h"

namespace wicprof::imports {

/// `clock`: the time in UTC at 0 on the clock of an earlier file; this file's times are put on that clock. Empty: the
/// clock is this file's own, the monotonic one of the machine where the file says it.
Result<Origin> read_nsys(const std::string& path, const std::optional<TimeNs>& clock, Target& target, HostWaits& waits,
                         const Progress& progress);

}  // namespace wicprof::imports
