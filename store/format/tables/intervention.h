#pragma once

#include "protocol/events/intervention.h"
#include "protocol/strategy.h"
#include "store/format/column.h"

namespace wicprof::store {

struct InterventionRow {
  RowId id;
  SiteId site;  ///< 0 = the whole program
  Mode old_mode, new_mode;
  StrategyId old_strategy, new_strategy;
  TimeNs requested, effective;
  WaitSide side = WaitSide::both;  ///< `host`: a change of host threads' waits in calls of CUDA
};

struct InterventionTable {
  using Event = InterventionEvent;
  using Row = InterventionRow;
  struct List {
    std::vector<Row> interventions;
  };
  static constexpr auto kRows = &List::interventions;
  static constexpr auto kSortedBy = &Row::effective;
  static constexpr const char* kName = "intervention";
  // What holds for the whole program is the next segment's `mode` in `meta`.
  static constexpr const char* kLasting =
      "id IN (SELECT max(id) FROM earlier.intervention WHERE site_id IS NOT NULL GROUP BY site_id)";
  static constexpr Columns kColumns{
      column::site("site_id", &Event::site, &Row::site),
      column::known("sequence", &Event::sequence),
      column::known("old_mode", &Event::old_mode, &Row::old_mode),
      column::known("new_mode", &Event::new_mode, &Row::new_mode),
      column::known("old_strategy_id", &Event::old_strategy, &Row::old_strategy),
      column::known("new_strategy_id", &Event::new_strategy, &Row::new_strategy),
      column::known("requested_ns", &Event::requested_ns, &Row::requested),
      column::known("effective_ns", &Event::effective_ns, &Row::effective),
      column::nullable("side", &Event::side, &Row::side).since_version(7),
  };
};

}  // namespace wicprof::store
