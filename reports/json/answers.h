// The answers of `analyze` and `compare` as JSON documents.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// `comparison`: of both modes in the trace; nullptr if the trace has one mode.
std::string analysis_json(const TraceModel& model, const Analysis& analysis, const Comparison* comparison = nullptr);
std::string comparison_json(const Comparison& comparison);

}  // namespace wicprof::reports
