#pragma once

#include "protocol/events/wait.h"
#include "protocol/strategy.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct WaitRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration;
  TimeNs arrived, resumed;
  OptionalTime ready;  ///< when the word was signalled, where a matching signal is known
  std::uint32_t polls;
  std::uint32_t value;
  StrategyId strategy;
  WaitStatus status;
  std::optional<WordTag> word;  ///< distinguishes the words of a site; two words may share a tag
  OptionalTime switched;        ///< when this wait first noticed a change of strategy
  /// The value that the wait wanted: reached at the latest by `value`; empty where the condition names none.
  std::optional<std::uint32_t> wanted = {};
};

struct WaitTable;
using WaitList = RowList<WaitRow, WaitTable>;

struct WaitTable {
  using Event = WaitEvent;
  using Row = WaitRow;
  struct List {
    WaitList waits;
  };
  static constexpr auto kRows = &List::waits;
  static constexpr auto kSortedBy = &Row::arrived;
  static constexpr const char* kName = "wait";
  static constexpr RowTime kTime{"arrived_ns", "resumed_ns"};
  static constexpr Columns kColumns{
      column::site("site_id", &Event::site, &Row::site),
      column::device("device_id", &Event::device, &Row::device),
      column::known("block", &Event::block, &Row::block),
      column::known("warp", &Event::warp, &Row::warp),
      column::known("sm", &Event::sm, &Row::sm),
      column::known("iteration", &Event::iteration, &Row::iteration),
      column::device_time("arrived_ns", &Event::arrived_ns, &Row::arrived),
      column::filled_in_later("ready_ns", &Row::ready),  // from the signals, when the trace is completed
      column::device_time("resumed_ns", &Event::resumed_ns, &Row::resumed),
      column::known("polls", &Event::polls, &Row::polls),
      column::known("strategy_id", &Event::strategy, &Row::strategy),
      column::known("status", &Event::status, &Row::status),
      column::known("value", &Event::value, &Row::value),
      column::special(
          "switched_ns",
          [](const Event& event, const Lookup& lookup) {
            return event.switched_after_ns == 0 ? kNull : lookup.host_time(event.arrived_ns + event.switched_after_ns);
          },
          &Row::switched),
      column::nullable("word_tag", &Event::word_tag, &Row::word),
      column::special(
          "wanted",
          [](const Event& event, const Lookup&) {
            return event.ahead_plus_one == 0 ? kNull : number(event.value + 1 - event.ahead_plus_one);
          },
          &Row::wanted)
          .since_version(6),
  };
};

}  // namespace wicprof::store
