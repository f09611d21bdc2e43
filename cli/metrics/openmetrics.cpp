#include "cli/metrics/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/metrics/list.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

/// In label values and help texts.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string_view unit_word(std::string_view unit) {
  if (unit == "s") return "seconds";
  return unit == "By" ? "bytes" : "";
}

struct TypeWords {
  std::string_view name, suffix;  ///< of samples
};
constexpr TypeWords words_of(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return {"counter", "_total"};
    case MetricType::gauge:
      return {"gauge", ""};
    case MetricType::info:
      break;
  }
  return {"info", "_info"};
}

std::string sample_text(const MetricSample& sample) {
  std::string text;
  char before = '{';
  for (const auto& [label, value] : sample.labels) {
    text += fmt::format("{}{}=\"{}\"", before, label, escaped(value));
    before = ',';
  }
  if (!sample.labels.empty()) text += '}';
  if (sample.parts == 1) return fmt::format("{} {}\n", text, sample.value);
  const auto digits = static_cast<int>(std::to_string(sample.parts).size()) - 1;  // of a power of ten
  return fmt::format("{} {}.{:0{}}\n", text, sample.value / sample.parts, sample.value % sample.parts, digits);
}

}  // namespace

std::string metrics_text(const MetricFacts& facts) {
  std::string text;
  for (const Metric& metric : metrics()) {
    const TypeWords words = words_of(metric.type);
    const std::string_view unit = unit_word(metric.unit);
    std::string name = fmt::format("{}{}{}", metric.name, unit.empty() ? "" : "_", unit);
    std::replace(name.begin(), name.end(), '.', '_');
    text += fmt::format("# TYPE {} {}\n", name, words.name);
    if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
    text += fmt::format("# HELP {} {}\n", name, escaped(metric.help));
    for (const MetricSample& sample : metric.samples(facts))
      text += fmt::format("{}{}{}", name, words.suffix, sample_text(sample));
  }
  return text + "# EOF\n";
}

}  // namespace wicprof::cli
