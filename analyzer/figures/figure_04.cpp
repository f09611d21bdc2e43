#include <cmath>
#include <map>

#include "analyzer/figures/list.h"

namespace wicprof::analyzer {
namespace {

struct Lead {
  double sum = 0, squares = 0, count = 0;
};

}  // namespace

template <>
Figure figure<4>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "(T_p - T_c) / cycle, for each wait; cycle = from the waiter's previous resumption at the site to this one. "
      "Above "
      "0 the consumer comes before its data. mean and (standard) deviation over the waits";
  figure.columns = {"trace", "mode", "site", "mean", "deviation", "waits"};
  figure.series = 2;
  figure.y = 3;
  for (const auto& trace : input) {
    const TraceModel& model = trace->model;
    // The waiter's previous resumption at the site. Edges are in order of arrival, kernels before the host.
    FlatIndex places;
    std::vector<TimeNs> last;
    std::map<std::pair<SiteId, Mode>, Lead> leads;
    for (const WakeEdge& edge : trace->matching->edges) {
      const WaitView wait = view_of(model, edge);
      const SiteId site = wait.site;
      const std::uint32_t waiter = trace->waiters->of(wait);
      const std::uint32_t place = places.number((std::uint64_t{site} << 32) | waiter);
      const WaitTimes times = trace->waits.times(edge);
      const TimeNs resumed = times.t_c + times.w_p;
      if (place == last.size()) {
        last.push_back(resumed);
        continue;
      }
      const TimeNs cycle = resumed - last[place];
      last[place] = resumed;
      if (cycle <= 0) continue;
      const double lead = static_cast<double>(times.t_p - times.t_c) / static_cast<double>(cycle);
      Lead& sums = leads[{site, trace->modes.at(site, times.t_c)}];
      sums.sum += lead;
      sums.squares += lead * lead;
      ++sums.count;
    }
    for (const auto& [key, sums] : leads) {
      const double mean = sums.sum / sums.count;
      std::vector<FigureCell> row = row_head(*trace, key.second, key.first);
      row.insert(row.end(), {mean, std::sqrt(std::max(0.0, sums.squares / sums.count - mean * mean)), sums.count});
      figure.rows.push_back(std::move(row));
    }
  }
  if (figure.rows.empty()) {
    figure.missing = "no recorded signals released any waiter twice at one site, so there is no cycle";
  }
  return figure;
}

}  // namespace wicprof::analyzer
