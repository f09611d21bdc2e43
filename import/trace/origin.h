// What a file says of itself.
#pragma once

#include <optional>
#include <string>

#include "protocol/time.h"

namespace wicprof::imports {

struct Origin {
  std::string tool;           ///< "Nsight Systems 2025.6.1 (schema 3.24.7)"
  std::string left_out;       ///< parts with rows that no trace of ours has; empty: none
  std::optional<TimeNs> utc;  ///< the time in UTC at 0 on the trace's clock
};

}  // namespace wicprof::imports
