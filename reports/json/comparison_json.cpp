#include "analyzer/analysis.h"
#include "reports/json/answers.h"
#include "reports/json/model_json.h"
#include "reports/json/values.h"

namespace wicprof::reports {
namespace {

Json segment_value(const Segment& segment) {
  return {{"trace", segment.trace},
          {"mode", mode_name(segment.mode)},
          {"strategy", strategy_name(segment.strategy)},
          {"begin_ns", segment.begin_ns},
          {"end_ns", segment.end_ns},
          {"iterations", segment.iterations.size()},
          {"iteration_ns_p50", or_null(segment.iteration_ns_p50)},
          {"side", segment.after ? Json(*segment.after ? "after" : "before") : Json(nullptr)},
          {"block", segment.block ? Json(*segment.block) : Json(nullptr)},
          {"apart", segment.apart}};
}

Json side_value(const Side& side) {
  return {{"label", side.label},
          {"units", side.units},
          {"iterations", side.iterations},
          {"iteration_ns_p50", or_null(side.iteration_ns_p50)}};
}

void add_judged(const JudgedRatio& judged, Json& value) {
  value["ratio"] = nullptr;
  if (const auto& ratio = judged.ratio) {
    value["ratio"] = {{"value", ratio->value}, {"low", ratio->low}, {"high", ratio->high}};
  }
  value["method"] = method_name(judged.method);
  value["verdict"] = verdict_name(judged.verdict);
}

void add_difference(const Difference& difference, Json& value) {
  value["before_count"] = difference.before_count;
  value["after_count"] = difference.after_count;
  value["before_p50_ns"] = difference.before_count > 0 ? Json(difference.before_p50_ns) : Json(nullptr);
  value["after_p50_ns"] = difference.after_count > 0 ? Json(difference.after_p50_ns) : Json(nullptr);
  add_judged(difference, value);
}

Json sites_value(const std::vector<SiteDifference>& sites) {
  Json list = Json::array();
  for (const SiteDifference& site : sites) {
    Json value = {{"site", site.site}, {"place", site.place.empty() ? Json(nullptr) : Json(site.place)}};
    add_difference(site, value);
    value["before_cpu"] = site.before_cpu ? Json(*site.before_cpu) : Json(nullptr);
    value["after_cpu"] = site.after_cpu ? Json(*site.after_cpu) : Json(nullptr);
    list.push_back(std::move(value));
  }
  return list;
}

Json edges_value(const std::vector<EdgeDifference>& edges) {
  Json list = Json::array();
  for (const EdgeDifference& edge : edges) {
    Json value = {{"from", edge.from}, {"to", edge.to}, {"site", edge.site}};
    add_difference(edge, value);
    value["clock_error_ns"] = or_null(edge.clock_error_ns);
    list.push_back(std::move(value));
  }
  return list;
}

Json meters_value(const Comparison& comparison) {
  const auto joules = [](double watts, const Side& side) {
    const std::optional<double> known = joules_per_iteration(watts, side);
    return known ? Json(*known) : Json(nullptr);
  };
  Json list = Json::array();
  for (const MeterDifference& meter : comparison.differences.meters) {
    Json value = {{"meter", meter.meter},
                  {"before_windows", meter.before_windows},
                  {"after_windows", meter.after_windows},
                  {"before_watts", meter.before_watts},
                  {"after_watts", meter.after_watts},
                  {"before_joules_per_iteration", joules(meter.before_watts, comparison.before)},
                  {"after_joules_per_iteration", joules(meter.after_watts, comparison.after)}};
    add_judged(meter, value);
    list.push_back(std::move(value));
  }
  return list;
}

Json energy_difference_value(const SiteEnergyDifference& row) {
  Json value = {{"meter", row.meter}, {"site", row.site.empty() ? Json(nullptr) : Json(row.site)}};
  const auto add = [&](const char* name, const std::optional<PollingEnergy>& energy) {
    value[name] = nullptr;
    if (energy) {
      value[name] = {{"watts", estimate_value(energy->watts)},
                     {"joules_per_iteration", estimate_value(energy->joules_per_iteration)}};
    }
  };
  add("before", row.before);
  add("after", row.after);
  add("difference", row.more);
  value["below_resolution"] = row.more ? Json(!row.more->watts.is_resolved()) : Json(nullptr);
  return value;
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
  value["per_time"] = nullptr;
  if (const auto& per_time = comparison.per_time)
    value["per_time"] = {{"value", per_time->value}, {"low", per_time->low}, {"high", per_time->high}};
  value["predicted"] = gain_value(comparison.predicted);
  value["predicted_bounds"] = bounds_value(comparison.predicted_bounds);
  value["predicted_reason"] = comparison.predicted_reason;
  value["prediction_error"] = comparison.prediction_error ? Json(*comparison.prediction_error) : Json(nullptr);
  value["verdict"] = verdict_name(comparison.verdict);
  value["why"] = comparison.why.empty() ? Json(nullptr) : Json(comparison.why);
  value["reason"] = comparison.reason;
  value["settle"] = comparison.settle.empty() ? Json(nullptr) : Json(comparison.settle);
  value["unit"] = unit_name(comparison.unit);
  value["method"] = method_name(comparison.method);
  value["estimator"] = comparison.estimator.empty() ? Json(nullptr) : Json(comparison.estimator);
  value["devices"] = comparison.devices;
  value["measured_at"] = comparison.measured_at;
  value["timed"] = comparison.timed.empty() ? Json(nullptr) : Json(comparison.timed);
  value["tolerance"] = comparison.options.tolerance;
  value["min_iterations"] = comparison.options.min_iterations;
  value["notes"] = comparison.notes;
  value["nvtx"] = comparison.options.nvtx.empty() ? Json(nullptr) : Json(comparison.options.nvtx);
  value["sites"] = sites_value(comparison.differences.sites);
  value["edges"] = edges_value(comparison.differences.edges);
  value["meters"] = meters_value(comparison);
  value["site_energy"] = Json::array();
  for (const SiteEnergyDifference& row : comparison.differences.site_energy)
    value["site_energy"].push_back(energy_difference_value(row));
  return value;
}

Json estimate_value(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"low", estimate->low}, {"high", estimate->high}};
}

std::string comparison_json(const Comparison& comparison) { return json_document(comparison_value(comparison)); }

}  // namespace wicprof::reports
