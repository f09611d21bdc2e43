// A trace file named on the command line, loaded for the analyzer.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Says on stderr when the trace is still being written or was never finished.
Result<analyzer::TraceModel> load_trace(const std::string& path);

}  // namespace wicprof::cli
