// Records that a recorder lost.
#pragma once

#include "analyzer/trace/trace_model.h"
#include "tests/analyzer/made_programs/kinds.h"

namespace wicprof::analyzer::made {

/// Erases rows of a settled trace as `losses` says; counted losses are in the trace's statistics.
void lose(TraceModel& trace, Losses losses, Random& random);

}  // namespace wicprof::analyzer::made
