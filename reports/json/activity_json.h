// Kernels, host threads, streams, clocks and processes in the JSON answer.
#pragma once

#include "reports/json/values.h"

namespace wicprof::reports {

/// Adds processes, kernels, dependent_kernels, crowded_kernels, host_waits, host_polling, stream_waits, clocks, threads
/// and own_cost to the answer.
void add_activity(const TraceModel& model, const Analysis& analysis, Json& value);

/// Adds `digest`: null for traces. Of digests, what they lack becomes null. After everything else.
void add_digest(const TraceModel& model, const Analysis& analysis, Json& value);

}  // namespace wicprof::reports
