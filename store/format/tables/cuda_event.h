#pragma once

#include "protocol/events/cuda_event.h"
#include "store/format/column.h"

namespace wicprof::store {

/// A CUDA event that was recorded on a stream.
struct CudaEventRow {
  RowId id = 0;
  DeviceId device = 0;
  std::uint32_t event = 0;
  std::optional<std::uint64_t> event_sync;
  std::optional<TimeNs> at;  ///< when the device reached it
  std::uint32_t context = 0, stream = 0, correlation = 0;
  ProcessId process = 0;
};

struct CudaEventTable {
  using Event = CudaEventEvent;
  using Row = CudaEventRow;
  struct List {
    std::vector<Row> cuda_events;
  };
  static constexpr auto kRows = &List::cuda_events;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "cuda_event";
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr Columns kColumns{

      column::device("device_id", &Event::device, &Row::device),
      column::known("event", &Event::event, &Row::event),
      column::nullable("event_sync", &Event::event_sync, &Row::event_sync),
      column::nullable("at_ns", &Event::at_ns, &Row::at),
      column::known("context", &Event::context, &Row::context),
      column::known("stream", &Event::stream, &Row::stream),
      column::known("correlation", &Event::correlation, &Row::correlation),
  };
};

}  // namespace wicprof::store
