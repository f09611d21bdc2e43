#include "reports/parts/hang.h"

#include <fmt/format.h>

#include "analyzer/stuck/trace_rows.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports {

std::optional<Hang> hang_of(const TraceModel& model) {
  const std::optional<analyzer::RecordedHang> hang = analyzer::recorded_hang(model);
  if (!hang) return std::nullopt;
  const analyzer::Cause& cause = hang->answer.causes.front();
  return Hang{fmt::format("{} ({})", cause_name(cause.kind), confidence_name(cause.confidence)), one_line(cause.text),
              "wic-prof stuck " + trace_words(model)};
}

}  // namespace wicprof::reports
