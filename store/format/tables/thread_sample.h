#pragma once

#include "protocol/events/thread_sample.h"
#include "store/format/column.h"

namespace wicprof::store {

/// What the operating system's scheduler did with a thread in an interval.
struct ThreadSampleRow {
  RowId id = 0;
  std::uint32_t thread = 0;
  Name name;
  TimeNs begin = 0, end = 0, cpu = 0;
  std::optional<TimeNs> run_delay;  ///< ready to run without a CPU
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  ProcessId process = 0;
};

struct ThreadSampleTable {
  using Event = ThreadSampleEvent;
  using Row = ThreadSampleRow;
  struct List {
    std::vector<Row> thread_samples;
  };
  static constexpr auto kRows = &List::thread_samples;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "thread_sample";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::known("thread", &Event::thread, &Row::thread),
      column::text("name_id", &Event::name, &Row::name),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("cpu_ns", &Event::cpu_ns, &Row::cpu),
      column::unless_negative("run_delay_ns", &Event::run_delay_ns, &Row::run_delay),
      column::known("voluntary_switches", &Event::voluntary_switches, &Row::voluntary_switches),
      column::known("involuntary_switches", &Event::involuntary_switches, &Row::involuntary_switches),
  };
};

}  // namespace wicprof::store
