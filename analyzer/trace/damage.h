// Removes impossible rows, which a damaged trace may contain.
#pragma once

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Removes rows with times more than 13 days from the trace's middle or lengths over 13 days, so that sums over the
/// other rows cannot overflow. Adds the number of removed rows to `stats` as a loss. The lists must be in order of
/// time, and remain so.
void remove_impossible_rows(TraceModel& model);

}  // namespace wicprof::analyzer
