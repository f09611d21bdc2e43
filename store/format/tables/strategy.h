#pragma once

#include "protocol/events/strategy.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Names strategies for people who query the file; readers know them by StrategyId.
struct StrategyTable {
  using Event = StrategyEvent;
  static constexpr const char* kName = "strategy";
  static constexpr Columns kColumns{
      column::known("id", &Event::strategy).of_type(kId),
      column::text("name_id", &Event::name),
  };
};

}  // namespace wicprof::store
