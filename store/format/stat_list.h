// Counters about the trace itself: the names of stat rows, with severity and meaning. A new counter: one enumerator and
// one line in kStats.
#pragma once

#include <array>
#include <string_view>

#include "store/format/rows.h"

namespace wicprof::store {

enum class Stat {
  events,
  waits,
  unknown_records,
  damaged_records,
  impossible_rows,
  missing_texts,
  ring_dropped,
  ring_corrupt,
  device_ring_dropped,
  cupti_dropped,
  pc_samples_dropped,
  clock_lost,
  clock_refused,
  store_lost,
  store_stopped,
  not_matched,
  not_indexed,
  not_summarised,
  producers_refused,
  rows_left_out,
  steal_ns,
  throttled_periods,
  throttled_ns,
  ended_unwritten,
};

struct StatInfo {
  Stat stat;
  std::string_view name;
  StatRow::Severity severity;
  std::string_view meaning;  ///< of the value
};

inline constexpr std::array kStats{
    StatInfo{Stat::events, "events", StatRow::Severity::info, "events written as rows"},
    StatInfo{Stat::waits, "waits", StatRow::Severity::info, "of these, waits inside kernels"},
    StatInfo{Stat::unknown_records, "unknown_records", StatRow::Severity::info,
             "records of kinds that this version does not know, skipped"},
    StatInfo{Stat::damaged_records, "damaged_records", StatRow::Severity::data_loss,
             "records too short for their kind, skipped"},
    StatInfo{Stat::impossible_rows, "impossible_rows", StatRow::Severity::data_loss,
             "rows with times weeks away from the recording, left out"},
    StatInfo{Stat::missing_texts, "missing_texts", StatRow::Severity::info,
             "names that rows refer to and that were dropped before they reached the tool; NULL in the rows"},
    StatInfo{Stat::ring_dropped, "ring_dropped", StatRow::Severity::data_loss,
             "events dropped because a ring between program and tool was full"},
    StatInfo{Stat::ring_corrupt, "ring_corrupt", StatRow::Severity::data_loss,
             "times that a ring was emptied because its contents were unreadable"},
    StatInfo{Stat::device_ring_dropped, "device_ring_dropped", StatRow::Severity::data_loss,
             "events dropped because a ring on a device was full"},
    StatInfo{Stat::cupti_dropped, "cupti_dropped", StatRow::Severity::data_loss, "activity records that CUPTI dropped"},
    StatInfo{Stat::pc_samples_dropped, "pc_samples_dropped", StatRow::Severity::data_loss,
             "samples of program counters dropped because a buffer was full"},
    StatInfo{Stat::clock_lost, "clock_lost", StatRow::Severity::data_loss,
             "events of a device whose clock was never compared with the host's"},
    StatInfo{Stat::clock_refused, "clock_refused", StatRow::Severity::info,
             "clock readings that ran backwards, not used"},
    StatInfo{Stat::store_lost, "store_lost", StatRow::Severity::data_loss,
             "events that could not be written to the trace"},
    StatInfo{Stat::store_stopped, "store_stopped", StatRow::Severity::error,
             "1 when writing ended before the program did; the detail says why"},
    StatInfo{Stat::not_matched, "not_matched", StatRow::Severity::data_loss,
             "1 when waits could not be matched with signals, so that ready_ns is NULL everywhere"},
    StatInfo{Stat::not_indexed, "not_indexed", StatRow::Severity::info,
             "1 when the indexes could not be made; reading is slower"},
    StatInfo{Stat::not_summarised, "not_summarised", StatRow::Severity::info,
             "1 when the summaries could not be made; the window makes them when it opens the trace"},
    StatInfo{Stat::producers_refused, "producers_refused", StatRow::Severity::data_loss,
             "processes, or parts of them, that are missing because no ring was free"},
    StatInfo{Stat::rows_left_out, "rows_left_out", StatRow::Severity::info,
             "rows outside the captured part, left out on purpose"},
    StatInfo{Stat::steal_ns, "steal_ns", StatRow::Severity::info,
             "time in ns that the hypervisor took from the machine's CPUs while recording, summed over the CPUs"},
    StatInfo{Stat::throttled_periods, "throttled_periods", StatRow::Severity::info,
             "periods in which a CPU quota of the group that the program started in was used up"},
    StatInfo{Stat::throttled_ns, "throttled_ns", StatRow::Severity::info,
             "time in ns for which such a quota stopped threads, summed over the CPUs"},
    StatInfo{Stat::ended_unwritten, "ended_unwritten", StatRow::Severity::info,
             "processes that ended by _exit, exec or a signal, before CUPTI handed over their last records"},
};

constexpr const StatInfo& stat_info(Stat stat) { return kStats[static_cast<std::size_t>(stat)]; }

constexpr bool stat_list_in_order() {
  for (std::size_t i = 0; i < kStats.size(); ++i) {
    if (static_cast<std::size_t>(kStats[i].stat) != i) return false;
  }
  return true;
}
static_assert(stat_list_in_order());

}  // namespace wicprof::store
