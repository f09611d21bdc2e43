#pragma once

#include "protocol/events/decision.h"
#include "protocol/strategy.h"
#include "store/format/column.h"

namespace wicprof::store {

/// What the autopilot decided, and by which figures (protocol/events/decision.h).
struct DecisionRow {
  RowId id = 0;
  DecisionKind decision = DecisionKind::none;
  WaitSide side = WaitSide::both;
  StrategyId strategy = StrategyId::automatic;
  TimeNs from = 0, at = 0;
  std::string reason, unit;
  std::uint32_t blocks = 0, poll_units = 0, park_units = 0;
  /// Time per unit while polling / while parked, in millionths, with its interval; nothing: not measured.
  std::optional<std::int64_t> ratio_ppm = {}, low_ppm = {}, high_ppm = {};
  std::optional<TimeNs> poll = {}, park = {}, poll_p99 = {}, park_p99 = {};  ///< per unit
};

struct DecisionTable {
  using Event = DecisionEvent;
  using Row = DecisionRow;
  struct List {
    std::vector<Row> decisions;
  };
  static constexpr auto kRows = &List::decisions;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "decision";
  static constexpr std::int64_t kSince = 11;
  static constexpr const char* kLasting = "id IN (SELECT max(id) FROM earlier.decision GROUP BY side)";
  static constexpr Columns kColumns{
      column::known("decision", &Event::decision, &Row::decision),
      column::known("side", &Event::side, &Row::side),
      column::known("strategy_id", &Event::strategy, &Row::strategy),
      column::known("from_ns", &Event::from_ns, &Row::from),
      column::known("at_ns", &Event::at_ns, &Row::at),
      column::text("reason_id", &Event::reason, &Row::reason),
      column::text("unit_id", &Event::unit, &Row::unit),
      column::known("blocks", &Event::blocks, &Row::blocks),
      column::known("poll_units", &Event::poll_units, &Row::poll_units),
      column::known("park_units", &Event::park_units, &Row::park_units),
      column::nullable("ratio_ppm", &Event::ratio_ppm, &Row::ratio_ppm),
      column::nullable("low_ppm", &Event::low_ppm, &Row::low_ppm),
      column::nullable("high_ppm", &Event::high_ppm, &Row::high_ppm),
      column::nullable("poll_ns", &Event::poll_ns, &Row::poll),
      column::nullable("park_ns", &Event::park_ns, &Row::park),
      column::nullable("poll_p99_ns", &Event::poll_p99_ns, &Row::poll_p99),
      column::nullable("park_p99_ns", &Event::park_p99_ns, &Row::park_p99),
  };
};

}  // namespace wicprof::store
