// Reads a dump of PyTorch's Flight Recorder: the collectives that a rank began, and those that are not complete.
#pragma once

#include <optional>
#include <string>

#include "import/trace/origin.h"
#include "import/trace/target.h"
#include "protocol/result.h"

namespace wicprof::imports {

/// One file per rank, whose name ends with the rank. `clock`: as for read_nsys().
Result<Origin> read_flight(const std::string& path, const std::optional<TimeNs>& clock, Target& target);
Result<Origin> read_flight(std::string_view bytes, const std::string& name, const std::optional<TimeNs>& clock,
                           Target& target);

}  // namespace wicprof::imports
