// The baseline of bench/store_ingest: the fastest plain way to insert waits into a trace, without the recorder.
#pragma once

#include <span>
#include <string>

#include "protocol/events/wait.h"
#include "protocol/result.h"

namespace wicprof::store {

/// Inserts each event's numbers into table `wait` of a new trace at `path` (replaced) with one prepared statement. Uses
/// the recorder's settings, commits every `batch` rows and checkpoints the write-ahead log at the end, like finish().
/// Omits texts, clocks and counters.
Result<> bare_insert(const std::string& path, std::span<const WaitEvent> events, std::size_t batch);

}  // namespace wicprof::store
