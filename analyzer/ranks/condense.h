// Leaves out calls of MPI, the same ones in the traces of all ranks, without knowing the others.
#pragma once

#include <cstdint>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// So that no process has more than `most` calls and requests; see digest().
void condense_calls(TraceModel& model, std::uint64_t most);

}  // namespace wicprof::analyzer
