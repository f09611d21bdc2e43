#include "analyzer/rules/rule.h"

#include <algorithm>

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

Interval RuleInput::within_ground(TimeNs begin, TimeNs end) const {
  const TimeNs from = std::clamp(begin, ground.begin, std::max(ground.begin, ground.end));
  return {from, std::clamp(end, from, std::max(from, ground.end))};
}

}  // namespace wicprof::analyzer
