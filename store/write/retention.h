// Which rows a trace keeps when only a part of a run is captured: the rows that overlap its time windows.
//
//   a fixed window (--delay, --duration)     known in advance: rows outside are not written
//   the last N seconds (--keep-last)         every second, rows recorded before the window are removed, and so are the
//                                            oldest that do not fit into keep_bytes
//   NVTX ranges (--capture-range)            a range is known from its begin on: rows recorded some time ago that
//                                            overlap no known range are removed
//
// Rows are removed by id, oldest first, by the time they were recorded: an event has ended when its row is recorded, so
// a row recorded before a window began is outside the window. The last pass, at completion, uses the rows' own times.
// Declarations stay (tables without kTime, store/format/column.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/time.h"
#include "store/format/event_tables.h"
#include "store/write/writer.h"

namespace wicprof::store {

/// An NVTX range by name; without a domain, in any domain.
struct RangeName {
  std::string name;
  std::optional<std::string> domain;  ///< "" = the default domain
};

struct RetentionPlan {
  TimeNs from = std::numeric_limits<TimeNs>::min();  ///< the fixed window
  TimeNs until = std::numeric_limits<TimeNs>::max();
  TimeNs keep_last = 0;                 ///< 0 = from the start
  std::uint64_t keep_bytes = 0;         ///< with keep_last: less time, where its rows take more; 0 = no limit
  std::vector<RangeName> ranges;        ///< empty = not by ranges
  TimeNs range_patience = 5 * kSecond;  ///< how late a range may be reported

  bool fixed() const {
    return from != std::numeric_limits<TimeNs>::min() || until != std::numeric_limits<TimeNs>::max();
  }
  bool removes() const { return keep_last != 0 || !ranges.empty(); }
};

/// When an event of a table with times begins and ends; unknown where the event does not say so.
template <class Table>
std::pair<Value, Value> times_of(const typename Table::Event& event, const Lookup& lookup) {
  constexpr std::size_t kBegin = column_index<Table>(Table::kTime.begin), kEnd = column_index<Table>(Table::kTime.end);
  const Value begin = column_at<kBegin>(Table::kColumns).write(event, lookup);
  return {begin, kEnd == kBegin ? begin : column_at<kEnd>(Table::kColumns).write(event, lookup)};
}

/// One thread.
class Retention {
 public:
  explicit Retention(RetentionPlan plan) : plan_(std::move(plan)) {}

  void set_fixed(TimeNs from, TimeNs until) {
    plan_.from = from;
    plan_.until = until;
  }
  const RetentionPlan& plan() const { return plan_; }

  /// Whether an event is outside the fixed window. Unknown times are inside.
  template <class Table>
  bool outside(const typename Table::Event& event, const Lookup& lookup) const {
    if constexpr (has_time<Table>()) {
      const auto [begin, end] = times_of<Table>(event, lookup);
      return (end.known && end.integer < plan_.from) || (begin.known && begin.integer > plan_.until);
    } else {
      return false;
    }
  }

  /// A range of any name has begun or ended. `producer` is the one that numbers the threads.
  void range_opened(std::size_t producer, std::uint32_t thread, const std::string& name, const std::string& domain,
                    TimeNs start);
  void range_ended(std::size_t producer, std::uint32_t thread, const std::string& name, const std::string& domain,
                   TimeNs start, TimeNs end);

  /// The producer is gone: its open ranges end now.
  void forget_producer(std::size_t producer, TimeNs now);

  /// Whether it is time for remove_some().
  bool due(TimeNs now) const { return plan_.removes() && now >= next_ && now <= plan_.until; }

  /// Removes rows that are known to be outside by now, in the writer's transaction. Returns SQLite's result code, 0 for
  /// success; adds the number of rows to `removed`.
  int remove_some(Writer& writer, TimeNs now, std::uint64_t& removed);

  /// The last pass: by the rows' own times, with all ranges known. `end`: when recording ended.
  int remove_rest(Writer& writer, TimeNs end, std::uint64_t& removed);

  /// From when on a plan with keep_last keeps rows, if recording ended at `end`.
  TimeNs kept_from(TimeNs end) const { return std::max(std::min(end, plan_.until) - plan_.keep_last, shortened_to_); }

  /// Number of disjoint windows that the ranges cover so far.
  std::size_t windows() const { return merged().size(); }

 private:
  struct Range {
    std::size_t producer;
    std::uint32_t thread;
    std::string name, domain;
    auto operator<=>(const Range&) const = default;
  };
  using Window = std::pair<TimeNs, TimeNs>;
  using Ids = std::array<std::int64_t, std::tuple_size_v<EventTables>>;

  static constexpr std::size_t kMergeFrom = 4096;  // merges windows from this number on; not calibrated

  bool wanted(const std::string& name, const std::string& domain) const;
  void add_window(TimeNs start, TimeNs end);
  static std::vector<Window> merge(std::vector<Window> all);
  std::vector<Window> merged() const;
  bool near_window(TimeNs begin, TimeNs end) const;
  int put_windows(Writer& writer, const Ids& last) const;
  const Ids* shorten(Writer& writer);

  RetentionPlan plan_;
  TimeNs next_ = 0;
  std::deque<std::pair<TimeNs, Ids>> newest_ids_;             // the newest id of every table, by time
  TimeNs shortened_to_ = std::numeric_limits<TimeNs>::min();  // rows of before did not fit into keep_bytes
  Ids decided_ids_{};                                         // rows up to these ids were kept or removed by the ranges
  TimeNs decided_at_ = 0;                                     // when these were the newest
  std::map<std::pair<Range, TimeNs>, int> open_;
  std::vector<Window> windows_;  // of ranges that have ended; merged at merge_at_ windows
  std::size_t merge_at_ = kMergeFrom;
};

}  // namespace wicprof::store
