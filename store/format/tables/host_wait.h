#pragma once

#include "protocol/events/host_wait.h"
#include "protocol/strategy.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct HostWaitRow {
  RowId id;
  SiteId site;  ///< of a call: the place in the program that makes it; 0 = not known
  Name call;    ///< empty for a wait in the program's own code
  std::uint32_t thread, iteration;
  TimeNs begin, end;
  std::optional<TimeNs> cpu;
  std::optional<std::uint32_t> polls;
  std::optional<std::uint32_t> correlation;
  WaitStatus status;
  std::optional<WordTag> word;                             ///< nothing for a call
  std::optional<std::uint32_t> involuntary_switches = {};  ///< times that the thread was preempted during the wait
  std::optional<TimeNs> run_delay = {};                    ///< time during the wait that the thread was ready to run
  ProcessId process = 0;
  std::optional<std::uint32_t> value = {};   ///< of the word, when the wait ended; nothing for a call
  std::optional<std::uint32_t> wanted = {};  ///< the value that the wait wanted; empty where the condition names none
  Awaited awaited = Awaited::unknown;        ///< of a call
  StrategyId strategy = StrategyId::poll;    ///< how wic-prof waited in the call's place; poll = the program's own way
  std::optional<std::uint32_t> naps = {};    ///< times that wic-prof slept in the call's place
  std::optional<TimeNs> predicted = {};      ///< the wait's length as predicted at its begin

  /// Whether the thread waited in a call of CUDA, not at a site that the program declares.
  bool in_call() const { return site == 0 || !call.empty(); }
};

struct HostWaitTable;
using HostWaitList = RowList<HostWaitRow, HostWaitTable>;

struct HostWaitTable {
  using Event = HostWaitEvent;
  using Row = HostWaitRow;
  struct List {
    HostWaitList host_waits;
  };
  static constexpr auto kRows = &List::host_waits;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "host_wait";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::site("site_id", &Event::site, &Row::site),
      column::text("call_id", &Event::call, &Row::call),
      column::known("thread", &Event::thread, &Row::thread),
      column::known("iteration", &Event::iteration, &Row::iteration),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::unless_negative("cpu_ns", &Event::cpu_ns, &Row::cpu),
      column::nullable("polls", &Event::polls, &Row::polls),
      column::nullable("correlation", &Event::correlation, &Row::correlation),
      column::known("status", &Event::status, &Row::status),
      column::nullable("word_tag", &Event::word_tag, &Row::word),
      column::nullable<Event::kUnknownSwitches>("involuntary_switches", &Event::involuntary_switches,
                                                &Row::involuntary_switches),
      column::unless_negative("run_delay_ns", &Event::run_delay_ns, &Row::run_delay),
      column::known_if(
          "value", [](const Event& event) { return event.site != 0 && event.call == 0; }, &Event::value, &Row::value)
          .since_version(6),
      column::special(
          "wanted",
          [](const Event& event, const Lookup&) {
            return event.site == 0 || event.names_wanted == 0 ? kNull : number(event.wanted);
          },
          &Row::wanted)
          .since_version(6),
      column::nullable("awaited", &Event::awaited, &Row::awaited).since_version(7),
      column::nullable("strategy_id", &Event::strategy, &Row::strategy).since_version(7),
      column::nullable("naps", &Event::naps, &Row::naps).since_version(7),
      column::nullable("predicted_ns", &Event::predicted_ns, &Row::predicted).since_version(7),
  };
};

}  // namespace wicprof::store
