#pragma once

#include "protocol/events/wait_count.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Waits at a patched loop of one process on one device in one interval.
struct WaitCountRow {
  RowId id;
  SiteId site;
  DeviceId device;
  TimeNs begin, end;
  std::int64_t waits, sampled;
  std::uint64_t looked, sampled_squares, timed, timed_rounds;
  TimeNs timed_time;
  std::uint32_t one_in = 1;
  ProcessId process = 0;
};

struct WaitCountTable {
  using Event = WaitCountEvent;
  using Row = WaitCountRow;
  struct List {
    std::vector<Row> wait_counts;
  };
  static constexpr auto kRows = &List::wait_counts;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "wait_count";
  static constexpr std::int64_t kSince = 13;
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::site("site_id", &Event::site, &Row::site),
      column::device("device_id", &Event::device, &Row::device),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("waits", &Event::waits, &Row::waits),
      column::known("looked", &Event::looked, &Row::looked),
      column::known("sampled", &Event::sampled, &Row::sampled),
      column::known("sampled_squares", &Event::sampled_squares, &Row::sampled_squares),
      column::known("timed", &Event::timed, &Row::timed),
      column::known("timed_rounds", &Event::timed_rounds, &Row::timed_rounds),
      column::known("timed_ns", &Event::timed_ns, &Row::timed_time),
      column::known("one_in", &Event::one_in, &Row::one_in),
  };
};

}  // namespace wicprof::store
