#include "analyzer/aggregates/distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace wicprof::analyzer {
namespace {

constexpr double kBinsPerDecade = 8;
constexpr double kShortest = 10;  // ns; begin of bin 0

constexpr std::size_t kBins = 144;  // as many begin before the longest time

/// The begins of all bins, in whole ns, and the end of the last.
std::array<TimeNs, kBins + 1> bin_edges() {
  std::array<TimeNs, kBins + 1> edges;
  for (std::size_t i = 0; i < kBins; ++i)
    edges[i] = std::lround(kShortest * std::pow(10.0, static_cast<double>(i) / kBinsPerDecade));
  edges[kBins] = std::numeric_limits<TimeNs>::max();
  return edges;
}

}  // namespace

std::uint64_t WaitHistogram::most_of(std::optional<WaitWay> way) const {
  if (!way) return most;
  std::uint64_t highest = 0;
  for (const Bin& bin : bins) highest = std::max(highest, bin.of(*way));
  return highest;
}

WaitDistribution wait_distribution(const TraceModel& model, const WaitFilter& filter) {
  const std::array<TimeNs, kBins + 1> edges = bin_edges();
  std::array<WaitHistogram::Bin, kBins> bins;
  WaitDistribution result;
  WaitHistogram& histogram = result.histogram;
  FigureSums sums[std::size(kWaitWays)];
  for_each_wait(model, [&](const WaitView& wait) {
    const WaitWay way = way_of(wait);
    if (!filter(wait.site, way, wait.begin, wait.end)) return;
    sums[static_cast<std::size_t>(way)].add(WorstWait::of(wait), filter.part(wait.begin, wait.end), std::nullopt,
                                            wait.polls);
    const TimeNs duration = wait.end - wait.begin;
    if (duration < edges[0]) {
      ++histogram.instant;
      return;
    }
    const auto end = std::upper_bound(edges.begin(), edges.end() - 1, duration);
    WaitHistogram::Bin& one = bins[static_cast<std::size_t>(end - edges.begin() - 1)];
    ++(way == WaitWay::polling ? one.polling : way == WaitWay::parked ? one.parked : one.host);
  });
  for (const WaitWay way : kWaitWays) {
    FigureSums& of_way = sums[static_cast<std::size_t>(way)];
    if (of_way.waits() > 0) result.ways.push_back({way, of_way.figures()});
  }
  std::size_t upto = kBins;
  while (upto > 0 && bins[upto - 1].count() == 0) --upto;
  for (std::size_t i = 0; i < upto; ++i) {
    WaitHistogram::Bin& one = bins[i];
    if (histogram.bins.empty() && one.count() == 0) continue;
    one.begin = edges[i];
    one.end = edges[i + 1];
    histogram.most = std::max(histogram.most, one.count());
    histogram.bins.push_back(one);
  }
  return result;
}

}  // namespace wicprof::analyzer
