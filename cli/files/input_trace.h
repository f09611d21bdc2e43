// Loads a trace file that the command line names.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Notes on stderr if the trace is still being recorded, or was never finished. Error also for a digest, which lacks
/// what a trace has.
Result<analyzer::TraceModel> load_trace(const std::string& path);
/// All traces of a file: one, or those of a digest.
Result<std::vector<analyzer::TraceModel>> load_traces(const std::string& path);

/// The traces of one job as one model. A trace that cannot be read is named on stderr, and the others are loaded.
/// Errors: none can be read; analyzer::join()'s.
Result<analyzer::TraceModel> load_job(const std::vector<std::string>& paths);
/// One model per trace; else like load_job().
Result<std::vector<analyzer::TraceModel>> load_readable(const std::vector<std::string>& paths);
/// analyzer::join(), with a note on stderr where ranks are missing.
Result<analyzer::TraceModel> join_job(std::vector<analyzer::TraceModel> traces);

}  // namespace wicprof::cli
