// How much of what a program did its trace holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The share of a table's rows that the trace holds. Rows are numbered as they are recorded, so gaps between the first
/// and the last number are missing rows.
double share_of_rows(const auto& rows, std::uint64_t& missing) {
  if (rows.size() < 2) return 1;
  store::RowId first = rows.front().id, last = first;
  for (const auto& row : rows) {
    first = std::min(first, row.id);
    last = std::max(last, row.id);
  }
  const auto numbers = static_cast<std::uint64_t>(last - first) + 1;
  if (numbers < rows.size()) return 1;  // the rows do not come from a trace
  missing += numbers - rows.size();
  return static_cast<double>(rows.size()) / static_cast<double>(numbers);
}

/// Records that the trace counts as lost.
inline std::uint64_t lost_records(const TraceModel& model) {
  std::uint64_t lost = 0;
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
      lost += static_cast<std::uint64_t>(stat.value);
  }
  return lost;
}

}  // namespace wicprof::analyzer
