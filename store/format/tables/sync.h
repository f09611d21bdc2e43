#pragma once

#include "protocol/events/sync.h"
#include "store/format/column.h"

namespace wicprof::store {

/// A host thread, or a stream, that waits for a stream, an event or a context.
struct SyncRow {
  RowId id = 0;
  SyncKind kind = SyncKind::unknown;
  TimeNs start = 0, end = 0;
  std::uint32_t context = 0;
  std::optional<std::uint32_t> stream;      ///< of `stream_waits_for_event`: the stream that waits
  std::optional<std::uint32_t> event;       ///< the CUDA event's id, which CUDA reuses
  std::optional<std::uint64_t> event_sync;  ///< one recording of the event: joins with CudaEventRow
  std::uint32_t correlation = 0;
  std::int32_t result = 0;
  ProcessId process = 0;
};

struct SyncTable {
  using Event = SyncEvent;
  using Row = SyncRow;
  struct List {
    std::vector<Row> syncs;
  };
  static constexpr auto kRows = &List::syncs;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "sync";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::known("kind", &Event::kind, &Row::kind),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("context", &Event::context, &Row::context),
      column::nullable<Event::kNoStream>("stream", &Event::stream, &Row::stream),
      column::nullable("event", &Event::event, &Row::event),
      column::nullable("event_sync", &Event::event_sync, &Row::event_sync),
      column::known("correlation", &Event::correlation, &Row::correlation),
      column::known("result", &Event::result, &Row::result),
  };
};

}  // namespace wicprof::store
