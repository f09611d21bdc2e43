// Ranks of an MPI program on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// When the others waited for each rank, what costs most first; empty where nobody waited.
std::string rank_matrix_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);

/// What digests have instead of rows, and what they lack; empty for traces.
std::string digest_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);

}  // namespace wicprof::reports
