// Rows that cannot be true, as a damaged trace may hold them.
#pragma once

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Takes out rows with times weeks away from the trace's middle, or lengths of weeks, so that nothing that is reckoned
/// from the rest overflows; how many is said in `stats` as a loss. The lists must be in order of time, and stay so.
void remove_impossible_rows(TraceModel& model);

}  // namespace wicprof::analyzer
