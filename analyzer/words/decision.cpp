#include "analyzer/words/decision.h"

#include <fmt/format.h>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

constexpr double kMillion = 1e6;

std::string_view verb_of(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::trial:
      return "tries parking of";
    case DecisionKind::keep:
      return "keeps parking of";
    case DecisionKind::refuse:
      return "does not park";
    case DecisionKind::stay:
      return "goes on with parking of";
    case DecisionKind::go_back:
      return "gives up parking of";
    case DecisionKind::end:
      return "ends, for";
    case DecisionKind::none:
      break;
  }
  return "decided something unknown about";
}

}  // namespace

std::string waits_of_side(WaitSide side) {
  return side == WaitSide::both ? "all waits" : fmt::format("{} waits", side_name(side));
}

std::string decision_ratio(const store::DecisionRow& row) {
  if (!row.ratio_ppm || !row.low_ppm || !row.high_ppm) return {};
  const auto ratio = [](std::int64_t ppm) { return static_cast<double>(ppm) / kMillion; };
  return fmt::format("{:.4g} ({:.4g} to {:.4g}) over {}", ratio(*row.ratio_ppm), ratio(*row.low_ppm),
                     ratio(*row.high_ppm), count_of(row.blocks, "block"));
}

std::string decision_text(const store::DecisionRow& row) {
  std::string text = fmt::format("{} {}: {}", verb_of(row.decision), waits_of_side(row.side), one_line(row.reason));
  if (const std::string ratio = decision_ratio(row); !ratio.empty()) text += "; time per unit polled / parked " + ratio;
  if (row.poll && row.park) text += fmt::format(", {} -> {}", format_duration(*row.poll), format_duration(*row.park));
  if (row.poll_p99 && row.park_p99)
    text += fmt::format(", p99 {} -> {}", format_duration(*row.poll_p99), format_duration(*row.park_p99));
  return text;
}

}  // namespace wicprof::analyzer
