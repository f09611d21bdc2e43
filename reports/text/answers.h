// The answers on the screen: the summary after `run`, and the answers of `analyze` and `compare`.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Fits on one screen of about 40 lines.
std::string summary_text(const TraceModel& model, const Analysis& analysis);
std::string analysis_text(const TraceModel& model, const Analysis& analysis);
std::string comparison_text(const Comparison& comparison);

}  // namespace wicprof::reports
