// The whole report as one JSON document.
#include <utility>

#include "reports/json/values.h"
#include "reports/parts/phrases.h"
#include "reports/parts/report.h"

namespace wicprof::reports {
namespace {

std::string_view kind_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::simt:
      return "simt";
    case DeviceKind::host:
      break;
  }
  return "host";
}

Json devices_value(const TraceModel& model) {
  Json list = Json::array();
  for (const store::DeviceRow& device : model.devices) {
    list.push_back({{"id", device.id},
                    {"name", device.name},
                    {"kind", kind_name(device.kind)},
                    {"sm_count", device.sm_count},
                    {"clock_error_ns", device.clock_error_ns ? Json(*device.clock_error_ns) : Json(nullptr)}});
  }
  return list;
}

Json interventions_value(const TraceModel& model) {
  Json list = Json::array();
  for (const store::InterventionRow& row : model.interventions) {
    list.push_back({{"site", row.site == 0 ? Json(nullptr) : Json(model.site_name(row.site))},
                    {"old_mode", mode_name(row.old_mode)},
                    {"new_mode", mode_name(row.new_mode)},
                    {"old_strategy", strategy_name(row.old_strategy)},
                    {"new_strategy", strategy_name(row.new_strategy)},
                    {"requested_ns", row.requested},
                    {"effective_ns", row.effective}});
  }
  return list;
}

}  // namespace

template <>
std::string render_as<struct JsonReport>(const ReportInput& input) {
  Json value;
  Json analysis = analysis_value(input.model, input.analysis, input.comparison);
  value["verdict"] = analysis["verdict"];
  Json::object_t meta;  // of an ordered object, [] looks through all keys
  for (const auto& [key, text] : input.model.meta) meta.emplace_back(key, text);
  value["meta"] = std::move(meta);
  value["devices"] = devices_value(input.model);
  value["analysis"] = std::move(analysis);
  value["comparison"] = input.comparison != nullptr ? comparison_value(*input.comparison) : Json(nullptr);
  value["interventions"] = interventions_value(input.model);
  value["kernels"] = value["analysis"]["kernels"];
  value["host_waits"] = Json::array();
  for (const HostWaitStats& call : host_calls(input.analysis)) {
    value["host_waits"].push_back({{"call", call.call.empty() ? call.name : call.call},
                                   {"site", call.site == 0 ? Json(nullptr) : Json(call.name)},
                                   {"count", call.count},
                                   {"total_ns", call.total_ns},
                                   {"p50_ns", call.p50_ns},
                                   {"max_ns", call.max_ns},
                                   {"cpu_ns", call.cpu_ns ? Json(*call.cpu_ns) : Json(nullptr)}});
  }
  if (input.model.is_digest()) {
    for (const char* const missing : {"devices", "interventions", "host_waits"}) value[missing] = nullptr;
  }
  return json_document(value);
}

}  // namespace wicprof::reports
