// The wait model, interference, overlap, critical path and prediction in the JSON answer.
#pragma once

#include "reports/json/values.h"

namespace wicprof::reports {

/// {"value", "low", "high"}, or null.
Json gain_value(const std::optional<Gain>& gain);
/// {"low", "high"}, or null.
Json bounds_value(const std::optional<Gain>& bounds);

/// Adds wait_model, interference, overlap, critical_path and prediction to the answer, and to each of its `sites`
/// predicted_gain, predicted_gain_bounds, predicted_gain_reason, break_even_ns and break_even_reason.
void add_models(const TraceModel& model, const Analysis& analysis, Json& value);

}  // namespace wicprof::reports
