#include <algorithm>

#include "analyzer/figures/list.h"
#include "analyzer/figures/pairs.h"

namespace wicprof::analyzer {
namespace {

/// The number of waiting groups on devices: the scale if the trace holds no kernels.
double groups_of(const FigureTrace& trace) {
  return static_cast<double>(std::count_if(trace.waiters->list().begin(), trace.waiters->list().end(),
                                           [](const Waiter& waiter) { return waiter.device != kHostDevice; }));
}

}  // namespace

template <>
Figure figure<16>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "speedup as in figure 12, one row per trace (or pair); threads: of the largest kernel that waits. Without "
      "recorded "
      "kernels, the number of waiting groups replaces the threads";
  figure.columns = {"scale", "threads", "speedup", "low", "high", "trace"};
  figure.plot = Figure::Plot::lines;
  figure.x = 1;
  figure.y = 2;
  std::vector<PolledAndParked> pairs = polled_and_parked(input);
  std::erase_if(pairs, [](const PolledAndParked& pair) { return !pair.comparison.speedup; });
  if (pairs.empty()) {
    figure.missing = kNoPairs;
    return figure;
  }
  const bool threads_known = std::all_of(
      pairs.begin(), pairs.end(), [](const PolledAndParked& pair) { return threads_of(*pair.polled).has_value(); });
  for (const PolledAndParked& pair : pairs) {
    const double scale = threads_known ? *threads_of(*pair.polled) : groups_of(*pair.polled);
    const Speedup& speedup = *pair.comparison.speedup;
    figure.rows.push_back({std::string(threads_known ? "threads" : "waiting groups"), scale, speedup.value, speedup.low,
                           speedup.high, pair.polled->model.name});
  }
  std::stable_sort(figure.rows.begin(), figure.rows.end(),
                   [](const auto& a, const auto& b) { return a[1].number < b[1].number; });
  const bool one_scale = figure.rows.front()[1].number == figure.rows.back()[1].number;
  if (one_scale) {
    figure.rows.clear();
    figure.missing = "all traces have the same number of threads: give traces of runs with different numbers";
  }
  return figure;
}

}  // namespace wicprof::analyzer
