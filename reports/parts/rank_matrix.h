// When the others waited for each rank, for people: rows are ranks or groups of them, columns parts of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/ranks/rank_times.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

struct RankMatrix {
  struct Row {
    std::int32_t first = 0, last = 0;  ///< ranks; equal for one
    store::ProcessId process = 0;      ///< of one
    std::vector<TimeNs> waited, waited_for;
  };
  TimeNs begin = 0, column = 0;  ///< column: length
  std::size_t columns = 0;
  TimeNs most_waited = 0, most_waited_for = 0;  ///< the largest values
  std::vector<Row> rows;                        ///< in order of rank

  TimeNs end() const { return begin + column * static_cast<TimeNs>(columns); }
};

/// At most `most_rows` rows, of as many ranks each: of these, a row has the largest values, so that one rank still
/// shows. `columns`: a divisor of 100. Without rows where nobody waited.
RankMatrix rank_matrix(const TraceModel& model, const Analysis& analysis, std::size_t most_rows, std::size_t columns);

}  // namespace wicprof::reports
