#pragma once

#include "protocol/events/overhead.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Time that CUPTI or the driver spent on profiling.
struct OverheadRow {
  RowId id = 0;
  Name what;
  std::optional<std::uint32_t> thread, correlation;
  TimeNs start = 0, end = 0;
  ProcessId process = 0;
};

struct OverheadTable {
  using Event = OverheadEvent;
  using Row = OverheadRow;
  struct List {
    std::vector<Row> overheads;
  };
  static constexpr auto kRows = &List::overheads;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "overhead";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::text("what_id", &Event::what, &Row::what),
      column::nullable("thread", &Event::thread, &Row::thread),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::nullable("correlation", &Event::correlation, &Row::correlation),
  };
};

}  // namespace wicprof::store
