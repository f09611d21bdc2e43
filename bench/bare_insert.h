// The yardstick of bench/store_ingest: the fastest plain way to put waits into a trace, with none of the recorder.
#pragma once

#include <span>
#include <string>

#include "protocol/events/wait.h"
#include "protocol/result.h"

namespace wicprof::store {

/// Inserts each event's numbers into `wait` of a new trace at `path` (replaced), by one prepared statement, with the
/// recorder's settings, a commit every `batch` rows and its end folded into the file as finish() does. Texts, clocks
/// and counters are left out.
Result<> bare_insert(const std::string& path, std::span<const WaitEvent> events, std::size_t batch);

}  // namespace wicprof::store
