// Loads a trace file that the command line names.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Notes on stderr if the trace is still being recorded, or was never finished.
Result<analyzer::TraceModel> load_trace(const std::string& path);

}  // namespace wicprof::cli
