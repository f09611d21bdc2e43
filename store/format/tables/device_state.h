#pragma once

#include "protocol/events/device_state.h"
#include "store/format/column.h"

namespace wicprof::store {

/// What NVML said of a GPU at a time.
struct DeviceStateRow {
  RowId id = 0;
  Name uuid;
  TimeNs at = 0;
  std::uint32_t sm_clock_mhz = 0, max_sm_clock_mhz = 0, memory_clock_mhz = 0;  ///< 0 = not known
  std::optional<std::int32_t> temperature_c;
  std::optional<std::uint64_t> slowdown_reasons;  ///< bits of SlowdownReason
  ProcessId process = 0;
};

struct DeviceStateTable {
  using Event = DeviceStateEvent;
  using Row = DeviceStateRow;
  struct List {
    std::vector<Row> device_states;
  };
  static constexpr auto kRows = &List::device_states;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "device_state";
  static constexpr std::int64_t kSince = 15;
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr Columns kColumns{
      column::text("uuid_id", &Event::uuid, &Row::uuid),
      column::known("at_ns", &Event::at_ns, &Row::at),
      column::nullable("sm_clock_mhz", &Event::sm_clock_mhz, &Row::sm_clock_mhz),
      column::nullable("max_sm_clock_mhz", &Event::max_sm_clock_mhz, &Row::max_sm_clock_mhz),
      column::nullable("memory_clock_mhz", &Event::memory_clock_mhz, &Row::memory_clock_mhz),
      column::nullable<Event::kUnknownTemperature>("temperature_c", &Event::temperature_c, &Row::temperature_c),
      column::nullable<Event::kUnknownReasons>("slowdown_reasons", &Event::slowdown_reasons, &Row::slowdown_reasons),
  };
};

}  // namespace wicprof::store
