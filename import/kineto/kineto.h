// Reads the JSON that torch.profiler (Kineto) writes, plain or packed by gzip.
#pragma once

#include <optional>
#include <string>

#include "import/kineto/bytes.h"
#include "import/trace/host_waits.h"
#include "import/trace/origin.h"
#include "import/trace/progress.h"
#include "import/trace/target.h"
#include "protocol/result.h"

namespace wicprof::imports {

/// `clock`: as for read_nsys(). Without one the clock begins at the last quarter of a year in UTC, as Kineto's does.
Result<Origin> read_kineto(const std::string& path, const std::optional<TimeNs>& clock, Target& target,
                           HostWaits& waits, const Progress& progress);
/// `name`: for messages.
Result<Origin> read_kineto(Bytes& bytes, const std::string& name, const std::optional<TimeNs>& clock, Target& target,
                           HostWaits& waits, const Progress& progress);

}  // namespace wicprof::imports
