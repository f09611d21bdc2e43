// The answers of `analyze` and `compare` as JSON values, for the documents that contain them.
#pragma once

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/json.h"

namespace wicprof::reports {

Json analysis_value(const TraceModel& model, const Analysis& analysis, const Comparison* comparison);
Json finding_value(const Finding& finding);
Json comparison_value(const Comparison& comparison);
/// {"value", "low", "high"}, or null.
Json estimate_value(const std::optional<Estimate>& estimate);

}  // namespace wicprof::reports
