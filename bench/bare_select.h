// The baseline of bench/analyze_speed: the plainest loop over the rows of a trace.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/result.h"

namespace wicprof::bench {

/// Reads each column of each row of the tables that bench/made_trace.h fills, with one prepared statement per table and
/// one thread. Returns the number of rows.
Result<std::uint64_t> bare_select(const std::string& path);

}  // namespace wicprof::bench
