// Kernels, host threads, streams, clocks and processes in the JSON answer.
#pragma once

#include "reports/parts/json_parts.h"

namespace wicprof::analyzer {

/// Adds processes, kernels, host_waits, host_polling, stream_waits, clocks, threads and own_cost to the answer.
void add_activity(const TraceModel& model, const Analysis& analysis, Json& value);

}  // namespace wicprof::analyzer
