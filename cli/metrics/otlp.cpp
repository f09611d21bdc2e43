#include "cli/metrics/otlp.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/metrics/list.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

using Json = nlohmann::json;

constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE

Json attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

/// 64-bit integers are decimal strings in protobuf's JSON.
Json point(const MetricSample& sample, const std::string& begin, const std::string& now) {
  Json attributes = Json::array();
  for (const auto& [key, value] : sample.labels) attributes.push_back(attribute(key, value));
  Json point{{"attributes", std::move(attributes)}, {"startTimeUnixNano", begin}, {"timeUnixNano", now}};
  if (sample.parts != 1) {
    point["asDouble"] = static_cast<double>(sample.value) / static_cast<double>(sample.parts);
  } else {
    point["asInt"] = std::to_string(sample.value);
  }
  return point;
}

/// OpenTelemetry has no type for an info: it is a gauge whose value is 1, which Prometheus calls the same.
Json metric_document(const Metric& metric, Json points) {
  const bool info = metric.type == MetricType::info;
  Json document{{"name", std::string(metric.name) + (info ? ".info" : "")},
                {"description", metric.help},
                {"unit", metric.unit.empty() ? "1" : metric.unit}};
  if (metric.type == MetricType::counter) {
    document["sum"] = {
        {"dataPoints", std::move(points)}, {"aggregationTemporality", kCumulative}, {"isMonotonic", true}};
  } else {
    document["gauge"] = {{"dataPoints", std::move(points)}};
  }
  return document;
}

}  // namespace

std::string otlp_request(const MetricFacts& facts, std::int64_t begin_unix_ns, std::int64_t now_unix_ns) {
  const std::string begin = std::to_string(begin_unix_ns), now = std::to_string(now_unix_ns);
  Json documents = Json::array();
  for (const Metric& metric : metrics()) {
    Json points = Json::array();
    for (const MetricSample& sample : metric.samples(facts)) points.push_back(point(sample, begin, now));
    if (!points.empty()) documents.push_back(metric_document(metric, std::move(points)));
  }
  const Json resource{
      {"attributes", {attribute("service.name", facts.app), attribute("service.instance.id", facts.session)}}};
  const Json scope{{"name", "wic-prof"}, {"version", WICPROF_VERSION}};
  const Json of_scope = Json::object({{"scope", scope}, {"metrics", std::move(documents)}});
  const Json of_resource = Json::object({{"resource", resource}, {"scopeMetrics", Json::array({of_scope})}});
  const Json request = Json::object({{"resourceMetrics", Json::array({of_resource})}});
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);  // names of the program may be no UTF-8
}

std::string rejection(const std::string& response) {
  const Json answer = Json::parse(response, nullptr, false);
  if (!answer.is_object() || !answer.contains("partialSuccess")) return {};
  const Json& part = answer["partialSuccess"];
  if (!part.is_object() || !part.contains("rejectedDataPoints")) return {};
  const Json& count = part["rejectedDataPoints"];
  const std::string number = count.is_string() ? count.get<std::string>() : count.dump();
  if (number == "0") return {};
  const auto message = part.find("errorMessage");
  const bool has_message = message != part.end() && message->is_string();
  return fmt::format("it rejected {} data points{}{}", number, has_message ? ": " : "",
                     has_message ? message->get<std::string>() : "");
}

}  // namespace wicprof::cli
