#include "analyzer/rules/rule.h"

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

}  // namespace wicprof::analyzer
