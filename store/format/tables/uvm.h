#pragma once

#include "protocol/events/uvm.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Managed memory: a page fault, a migration, thrashing.
struct UvmRow {
  RowId id = 0;
  UvmKind kind = UvmKind::cpu_fault;
  DeviceId device = 0;       ///< the device that faulted, or the destination of a migration
  DeviceId peer_device = 0;  ///< the source of a migration, else the same as `device`
  std::uint64_t address = 0, bytes = 0;
  TimeNs start = 0, end = 0;
  std::uint64_t count = 1;  ///< faults of a group of faults
  Name cause;               ///< empty = not known
  ProcessId process = 0;
};

struct UvmTable {
  using Event = UvmEvent;
  using Row = UvmRow;
  struct List {
    std::vector<Row> uvm;
  };
  static constexpr auto kRows = &List::uvm;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "uvm";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::device("device_id", &Event::device, &Row::device),
      column::known("kind", &Event::kind, &Row::kind),
      column::known("address", &Event::address, &Row::address),
      column::known("bytes", &Event::bytes, &Row::bytes),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::device("peer_device_id", &Event::peer_device, &Row::peer_device),
      column::known("count", &Event::count, &Row::count),
      column::text("cause_id", &Event::cause, &Row::cause),
  };
};

}  // namespace wicprof::store
