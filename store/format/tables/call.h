#pragma once

#include "protocol/events/call.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct CallRow {
  RowId id;
  Name name;
  std::uint8_t api;  ///< CallApi
  std::uint32_t thread, correlation;
  std::int32_t result;
  TimeNs start, end;
  ProcessId process = 0;
  std::uint32_t queries = 0;  ///< as in CallEvent

  /// Calls that the row stands for.
  std::uint32_t count() const { return queries == 0 ? 1 : queries; }
};

struct CallTable;
using CallList = RowList<CallRow, CallTable>;

struct CallTable {
  using Event = CallEvent;
  using Row = CallRow;
  struct List {
    CallList calls;
  };
  static constexpr auto kRows = &List::calls;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "call";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::text("name_id", &Event::name, &Row::name),
      column::known("api", &Event::api, &Row::api),
      column::known("thread", &Event::thread, &Row::thread),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("correlation", &Event::correlation, &Row::correlation),
      column::known("result", &Event::result, &Row::result),
      column::nullable("queries", &Event::queries, &Row::queries).since_version(16),
  };
};

}  // namespace wicprof::store
