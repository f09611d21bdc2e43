#pragma once

#include "protocol/events/energy.h"
#include "store/format/column.h"

namespace wicprof::store {

/// A reading of a meter of energy.
struct EnergyRow {
  RowId id;
  Name meter;
  TimeNs at;
  std::uint64_t energy_uj;  ///< since the first reading of the recording
  ProcessId process = 0;
};

struct EnergyTable {
  using Event = EnergyEvent;
  using Row = EnergyRow;
  struct List {
    std::vector<Row> energy;
  };
  static constexpr auto kRows = &List::energy;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "energy";
  static constexpr std::int64_t kSince = 14;
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr Columns kColumns{
      column::text("meter_id", &Event::meter, &Row::meter),
      column::known("at_ns", &Event::at_ns, &Row::at),
      column::known("energy_uj", &Event::energy_uj, &Row::energy_uj),
  };
};

}  // namespace wicprof::store
