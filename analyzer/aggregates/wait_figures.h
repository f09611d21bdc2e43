// The figures of a set of waits: what a cell of a matrix, a line of a table and the text beside a histogram show.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/measure/durations.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/words/colours.h"

namespace wicprof::analyzer {

/// How a waiter spent its wait.
enum class WaitWay : std::uint8_t { polling, parked, host };
inline constexpr WaitWay kWaitWays[] = {WaitWay::polling, WaitWay::parked, WaitWay::host};
/// "poll", "park", "host": keys of JSON, CSS classes and names of buttons.
std::string_view way_key(WaitWay way);
/// The colour in which pictures show these waits.
State state_of_way(WaitWay way);
/// A wait in a kernel polls if its strategy has every waiter read the word.
WaitWay way_of(const WaitView& wait);

/// Which waits count. A wait counts if it overlaps the window.
struct WaitFilter {
  std::optional<SiteId> site;      ///< nothing: every site, and the waits in calls
  std::optional<Interval> window;  ///< nothing: the whole trace
  std::optional<WaitWay> way;      ///< nothing: each way
  bool operator()(SiteId of, WaitWay by, TimeNs begin, TimeNs end) const {
    return (!site || *site == of) && (!way || *way == by) && (!window || (end > window->begin && begin < window->end));
  }
  /// The part of a wait that counts as waiting time: the part within the window.
  TimeNs part(TimeNs begin, TimeNs end) const;
};

/// The longest wait of a set, as a row of the trace.
struct WorstWait {
  bool host = false;  ///< of table `host_wait`, otherwise of table `wait`
  store::RowId row = 0;
  SiteId site = 0;  ///< 0 for a call
  TimeNs begin = 0, end = 0;

  static WorstWait of(const WaitView& wait) { return {wait.host, wait.row, wait.site, wait.begin, wait.end}; }
};

/// Times in ns. `waiting_ns` counts only the parts of waits within the filter's window; percentiles are of whole waits.
struct WaitFigures {
  std::uint64_t waits = 0;
  TimeNs waiting_ns = 0;
  TimeNs p50_ns = 0, p99_ns = 0, max_ns = 0;
  std::uint64_t woken = 0;                         ///< waits of which the trace shows what ended them
  std::optional<TimeNs> wake_p50_ns, wake_p99_ns;  ///< of these; nothing if there are none
  std::uint64_t polls = 0, waits_with_polls = 0;   ///< `polls` is over `waits_with_polls`
  std::optional<WorstWait> worst;                  ///< nothing without waits
  std::optional<double> polls_per_wait() const;
};

/// Collects waits, and computes their figures at the end, without wake latencies. Holds 4 to 8 bytes per wait.
class FigureSums {
 public:
  void add(const WorstWait& wait, TimeNs part, std::optional<std::uint64_t> polls);
  std::uint64_t waits() const { return figures_.waits; }
  WaitFigures figures() const;

 private:
  WaitFigures figures_;
  Durations times_;
};

}  // namespace wicprof::analyzer
