#include "analyzer/rules/rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "critical";
    case Severity::warning:
      return "warning";
    case Severity::info:
      break;
  }
  return "info";
}

std::string cost_text(const Cost& cost) {
  if (cost.unit == Cost::Unit::time) return format_percent(cost.amount) + " of the time";
  return cost.amount < kWorthNaming ? std::string("less than 0.01 CPUs") : fmt::format("{:.2f} CPUs", cost.amount);
}

bool Finding::negligible() const { return cost && cost->amount < kWorthNaming; }

Cost RuleInput::time_cost(TimeNs spent) const {
  const double share = ground_ns() > 0 ? static_cast<double>(spent) / static_cast<double>(ground_ns()) : 0;
  return {Cost::Unit::time, std::clamp(share, 0.0, 1.0)};
}

Interval RuleInput::within_ground(TimeNs begin, TimeNs end) const {
  const TimeNs from = std::clamp(begin, ground.begin, std::max(ground.begin, ground.end));
  return {from, std::clamp(end, from, std::max(from, ground.end))};
}

}  // namespace wicprof::analyzer
