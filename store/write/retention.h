// Which rows a trace keeps when only a part of a run is to be captured: those that reach into its windows of time.
//
//   a fixed window (--delay, --duration)     known before its rows come: others are not even written
//   the last N seconds (--keep-last)         every second the rows that came before then are removed
//   NVTX ranges (--capture-range)            a range is known once it has begun; rows that came a while ago, and reach
//   into
//                                            no range known by then, are removed
//
// Rows are removed by id from the oldest on, by when they came: a row's thing is over when its row comes, so what came
// before a window began is outside of it. The last look, when the trace is completed, goes by the rows' own times.
// Declarations stay (tables without kTime, store/format/column.h).
#pragma once

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

/// An NVTX range by its name; without a domain: in any.
struct RangeName {
  std::string name;
  std::optional<std::string> domain;  ///< "" = the default domain
};

struct RetentionPlan {
  TimeNs from = std::numeric_limits<TimeNs>::min();  ///< the fixed window
  TimeNs until = std::numeric_limits<TimeNs>::max();
  TimeNs keep_last = 0;                 ///< 0 = from the start
  std::vector<RangeName> ranges;        ///< empty = not by ranges
  TimeNs range_patience = 5 * kSecond;  ///< so late the news of a range may come

  bool fixed() const {
    return from != std::numeric_limits<TimeNs>::min() || until != std::numeric_limits<TimeNs>::max();
  }
  bool removes() const { return keep_last != 0 || !ranges.empty(); }
};

/// One thread.
class Retention {
 public:
  explicit Retention(RetentionPlan plan) : plan_(std::move(plan)) {}

  void set_fixed(TimeNs from, TimeNs until) {
    plan_.from = from;
    plan_.until = until;
  }
  const RetentionPlan& plan() const { return plan_; }

  /// Whether something of that time is outside of the fixed window. Unknown times are inside.
  template <class Table>
  bool outside(const typename Table::Event& event, const Lookup& lookup) const {
    if constexpr (has_time<Table>()) {
      constexpr std::size_t kBegin = column_index<Table>(Table::kTime.begin),
                            kEnd = column_index<Table>(Table::kTime.end);
      const Value begin = column_at<kBegin>(Table::kColumns).write(event, lookup);
      const Value end = kEnd == kBegin ? begin : column_at<kEnd>(Table::kColumns).write(event, lookup);
      return (end.known && end.integer < plan_.from) || (begin.known && begin.integer > plan_.until);
    } else {
      return false;
    }
  }

  /// A range has begun, or is over; of any name. `producer`: whose numbers and threads they are.
  void range_opened(std::size_t producer, std::uint32_t thread, const std::string& name, const std::string& domain,
                    TimeNs start);
  void range_ended(std::size_t producer, std::uint32_t thread, const std::string& name, const std::string& domain,
                   TimeNs start, TimeNs end);

  /// The producer is gone: what it left open ended now.
  void forget_producer(std::size_t producer, TimeNs now);

  /// Whether remove_some() has something to do.
  bool due(TimeNs now) const { return plan_.removes() && now >= next_; }

  /// Removes what is known to be outside by now, in the writer's transaction. SQLite's result code, 0 when it
  /// succeeded; `removed` grows by the number of rows.
  int remove_some(Writer& writer, TimeNs now, std::uint64_t& removed);

  /// The last time: by the rows' own times, with all ranges known. `end`: when recording ended.
  int remove_rest(Writer& writer, TimeNs end, std::uint64_t& removed);

  /// How many separate windows the ranges made so far.
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

  static constexpr std::size_t kMostLoose = 4096;  // windows that are not merged yet

  bool wanted(const std::string& name, const std::string& domain) const;
  void add_window(TimeNs start, TimeNs end);
  static std::vector<Window> merge(std::vector<Window> all);
  std::vector<Window> merged() const;
  int put_windows(Writer& writer, const Ids& last) const;

  RetentionPlan plan_;
  TimeNs next_ = 0;
  std::deque<std::pair<TimeNs, Ids>> came_;  // the highest ids of every table at some times
  Ids looked_at_{};                          // by ranges: rows up to these were decided on
  std::map<std::pair<Range, TimeNs>, int> open_;
  std::vector<Window> windows_;  // of ranges that have ended; merged when there are merge_at_
  std::size_t merge_at_ = kMostLoose;
};

}  // namespace wicprof::store
