#pragma once

#include "protocol/events/pc_interval.h"
#include "store/format/column.h"

namespace wicprof::store {

/// The sampling of one device in one interval.
struct PcIntervalRow {
  RowId id;
  DeviceId device;
  TimeNs begin, end;
  std::uint64_t samples, dropped, foreign_samples, period_cycles;
};

struct PcIntervalTable {
  using Event = PcIntervalEvent;
  using Row = PcIntervalRow;
  struct List {
    std::vector<Row> pc_intervals;
  };
  static constexpr auto kRows = &List::pc_intervals;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr bool kLive = false;  // its samples are only read from a complete trace
  static constexpr const char* kName = "pc_interval";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::device("device_id", &Event::device, &Row::device),
      column::known("context", &Event::context),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("samples", &Event::samples, &Row::samples),
      column::known("dropped", &Event::dropped, &Row::dropped),
      column::known("foreign_samples", &Event::foreign_samples, &Row::foreign_samples),
      column::known("period_cycles", &Event::period_cycles, &Row::period_cycles),
  };
};

}  // namespace wicprof::store
