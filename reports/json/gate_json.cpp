// The gate's answer as one JSON document.
#include "reports/json/values.h"
#include "reports/parts/gate_report.h"

namespace wicprof::reports {
namespace {

Json check_value(const Check& check) {
  return {{"name", check.name},
          {"site", check.site.empty() ? Json(nullptr) : Json(check.site)},
          {"state", check_state_name(check.state)},
          {"forgiven", check.forgiven},
          {"value", or_null(check.value)},
          {"low", or_null(check.low)},
          {"high", or_null(check.high)},
          {"limit", or_null(check.limit)},
          {"unit", check.unit},
          {"text", check.text}};
}

Json site_value(const SiteFigures& site) {
  return {{"site", site.site},
          {"waits", site.waits},
          {"wait_share", site.wait_share},
          {"p99_wake_ns", or_null(site.p99_wake_ns)},
          {"polls_per_wait", or_null(site.polls_per_wait)},
          {"missed_deadlines", site.missed_deadlines},
          {"predicted_gain", or_null(site.predicted_gain)}};
}

Json run_value(const RunFigures& run) {
  Json value = {{"trace", run.series.trace},
                {"mode", mode_name(run.series.mode)},
                {"strategy", strategy_name(run.series.strategy)},
                {"devices", run.series.devices},
                {"losses", run.losses}};
  value["sites"] = Json::array();
  for (const SiteFigures& site : run.sites) value["sites"].push_back(site_value(site));
  return value;
}

}  // namespace

template <>
std::string render_gate<struct JsonGate>(const GateReportInput& input) {
  const auto& [run, config, sides, result] = input;
  Json value = {{"state", check_state_name(result.state)},
                {"command", run.command},
                {"utc", run.utc},
                {"seconds", run.seconds},
                {"allow_inconclusive", config.allow_inconclusive},
                {"allow_missing_data", config.allow_missing_data}};
  value["checks"] = Json::array();
  for (const Check& check : result.checks) value["checks"].push_back(check_value(check));
  value["sides"] = Json::array();
  for (const GateSide& side : sides) {
    Json runs = Json::array();
    for (const RunFigures& figures : side.runs) runs.push_back(run_value(figures));
    value["sides"].push_back({{"label", side.label}, {"runs", std::move(runs)}});
  }
  value["between_sides"] = result.between_sides ? comparison_value(*result.between_sides) : Json(nullptr);
  value["with_baseline"] = result.with_baseline ? comparison_value(*result.with_baseline) : Json(nullptr);
  value["notes"] = result.notes;
  value["files"] = run.files;
  return json_document(value);
}

}  // namespace wicprof::reports
