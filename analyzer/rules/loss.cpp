#include "analyzer/rules/loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "store/format/stat_list.h"

namespace wicprof::analyzer {
namespace {

/// "ring_dropped: 1,234 (ring 0): events dropped because ...".
std::string loss_line(const store::StatRow& stat) {
  std::string line = one_line(stat.name);
  if (stat.value > 0) line += ": " + format_count(static_cast<std::uint64_t>(stat.value));
  if (!stat.detail.empty()) line += fmt::format(" ({})", one_line(stat.detail));
  const auto known = std::find_if(store::kStats.begin(), store::kStats.end(),
                                  [&](const auto& info) { return info.name == stat.name; });
  if (known != store::kStats.end()) line += fmt::format(": {}", known->meaning);
  return line;
}

}  // namespace

std::vector<Loss> losses(const TraceModel& model) {
  std::vector<Loss> list;
  if (!model.complete) list.push_back({"incomplete", {}, 0, model.incomplete_reason});
  for (const store::StatRow& stat : model.stats) {
    const bool lost = stat.severity == store::StatRow::Severity::data_loss && stat.value > 0;
    const bool failed = stat.severity == store::StatRow::Severity::error;
    if (lost || failed) list.push_back({stat.name, stat.detail, stat.value, loss_line(stat)});
  }
  return list;
}

}  // namespace wicprof::analyzer
