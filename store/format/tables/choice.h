#pragma once

#include "protocol/events/choice.h"
#include "protocol/strategy.h"
#include "store/format/column.h"

namespace wicprof::store {

/// The strategy that `auto` uses at a site from a time on, and the figures that decided it.
struct ChoiceRow {
  RowId id;
  SiteId site;
  StrategyId strategy;
  TimeNs at;
  std::string reason;
  std::uint32_t waits;  ///< seen before the choice; 0 = the site's declaration decided
  std::optional<std::uint32_t> waiters_per_word, words;
  std::optional<TimeNs> median_wait, look;
};

struct ChoiceTable {
  using Event = ChoiceEvent;
  using Row = ChoiceRow;
  struct List {
    std::vector<Row> choices;
  };
  static constexpr auto kRows = &List::choices;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "choice";
  static constexpr const char* kLasting = "id IN (SELECT max(id) FROM earlier.choice GROUP BY site_id)";
  static constexpr Columns kColumns{

      column::site("site_id", &Event::site, &Row::site).of_type(kKnown),
      column::known("strategy_id", &Event::strategy, &Row::strategy),
      column::known("at_ns", &Event::at_ns, &Row::at),
      column::text("reason_id", &Event::reason, &Row::reason),
      column::known("waits", &Event::waits, &Row::waits),
      column::nullable("waiters_a_word", &Event::waiters_per_word, &Row::waiters_per_word),
      column::nullable("words", &Event::words, &Row::words),
      column::unless_negative("median_wait_ns", &Event::median_wait_ns, &Row::median_wait),
      column::unless_negative("look_ns", &Event::look_ns, &Row::look),
  };
};

}  // namespace wicprof::store
