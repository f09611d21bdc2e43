// How long waits take: a histogram on a logarithmic scale, and the figures of each way of waiting beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/aggregates/wait_figures.h"

namespace wicprof::analyzer {

/// Bins of equal width on a logarithmic scale, eight per decade.
struct WaitHistogram {
  struct Bin {
    TimeNs begin = 0, end = 0;
    std::uint64_t polling = 0, parked = 0, host = 0;
    std::uint64_t of(WaitWay way) const {
      return way == WaitWay::polling ? polling : way == WaitWay::parked ? parked : host;
    }
    std::uint64_t count() const { return polling + parked + host; }
  };
  std::vector<Bin> bins;      ///< contiguous, from the first bin with a wait to the last
  std::uint64_t most = 0;     ///< count of the fullest bin
  std::uint64_t instant = 0;  ///< waits shorter than 10 ns, which no bin holds

  /// The count of the fullest bin if only waits of one way count; `most` for nothing.
  std::uint64_t most_of(std::optional<WaitWay> way) const;
};

/// The waits of one way.
struct WayFigures {
  WaitWay way = WaitWay::polling;
  WaitFigures figures;  ///< without wake latencies, which need the matching
};

struct WaitDistribution {
  WaitHistogram histogram;
  std::vector<WayFigures> ways;  ///< only the ways that occur, in the order of kWaitWays
};

/// The waits that the filter admits; the filter's site 0 stands for the waits in calls.
WaitDistribution wait_distribution(const TraceModel& model, const WaitFilter& filter);
/// The same for each of some filters, in one pass over the waits.
std::vector<WaitDistribution> wait_distributions(const TraceModel& model, const std::vector<WaitFilter>& filters);

}  // namespace wicprof::analyzer
