#include "analyzer/analysis.h"
#include "analyzer/reports/json_parts.h"
#include "analyzer/reports/model_json.h"

namespace wicprof::analyzer {
namespace {

Json or_null(const std::optional<TimeNs>& value) { return value ? Json(*value) : Json(nullptr); }

Json segment_value(const Segment& segment) {
  return {{"trace", segment.trace},
          {"mode", mode_name(segment.mode)},
          {"strategy", strategy_name(segment.strategy)},
          {"begin_ns", segment.begin_ns},
          {"end_ns", segment.end_ns},
          {"iterations", segment.iterations.size()},
          {"iteration_ns_p50", or_null(segment.iteration_ns_p50)}};
}

Json side_value(const Side& side) {
  return {{"label", side.label}, {"iterations", side.iterations}, {"iteration_ns_p50", or_null(side.iteration_ns_p50)}};
}

}  // namespace

Json comparison_value(const Comparison& comparison) {
  Json value;
  value["segments"] = Json::array();
  for (const Segment& segment : comparison.segments) value["segments"].push_back(segment_value(segment));
  value["before"] = side_value(comparison.before);
  value["after"] = side_value(comparison.after);
  value["speedup"] = nullptr;
  if (const auto& speedup = comparison.speedup) {
    value["speedup"] = {{"value", speedup->value}, {"low", speedup->low}, {"high", speedup->high}};
  }
  value["predicted"] = gain_value(comparison.predicted);
  value["predicted_reason"] = comparison.predicted_reason;
  value["prediction_error"] = comparison.prediction_error ? Json(*comparison.prediction_error) : Json(nullptr);
  value["verdict"] = verdict_name(comparison.verdict);
  value["reason"] = comparison.reason;
  value["measured_at"] = comparison.measured_at;
  value["tolerance"] = comparison.options.tolerance;
  value["min_iterations"] = comparison.options.min_iterations;
  value["notes"] = comparison.notes;
  return value;
}

std::string comparison_json(const Comparison& comparison) { return document(comparison_value(comparison)); }

}  // namespace wicprof::analyzer
