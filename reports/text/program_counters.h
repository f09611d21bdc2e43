// Sampled program counters on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// Hot functions, stall reasons, and polling loops with their instructions. Empty if the trace has no samples.
std::string program_counters_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                                  const Screen& screen);

}  // namespace wicprof::reports
