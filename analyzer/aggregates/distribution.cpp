#include "analyzer/aggregates/distribution.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace wicprof::analyzer {
namespace {

constexpr double kBinsPerDecade = 8;
constexpr double kShortest = 10;  // ns; begin of bin 0

int bin_of(TimeNs duration) {
  return static_cast<int>(std::floor(std::log10(static_cast<double>(duration) / kShortest) * kBinsPerDecade));
}
TimeNs bin_begin(int bin) { return static_cast<TimeNs>(std::lround(kShortest * std::pow(10.0, bin / kBinsPerDecade))); }

}  // namespace

std::uint64_t WaitHistogram::most_of(std::optional<WaitWay> way) const {
  if (!way) return most;
  std::uint64_t highest = 0;
  for (const Bin& bin : bins) highest = std::max(highest, bin.of(*way));
  return highest;
}

WaitDistribution wait_distribution(const TraceModel& model, const WaitFilter& filter) {
  std::map<int, WaitHistogram::Bin> bins;
  WaitDistribution result;
  WaitHistogram& histogram = result.histogram;
  FigureSums sums[std::size(kWaitWays)];
  for_each_wait(model, [&](const WaitView& wait) {
    const WaitWay way = way_of(wait);
    if (!filter(wait.site, way, wait.begin, wait.end)) return;
    sums[static_cast<std::size_t>(way)].add(WorstWait::of(wait), filter.part(wait.begin, wait.end), std::nullopt,
                                            wait.polls);
    const TimeNs duration = wait.end - wait.begin;
    if (duration < static_cast<TimeNs>(kShortest)) {
      ++histogram.instant;
      return;
    }
    int bin = bin_of(duration);
    if (duration >= bin_begin(bin + 1)) ++bin;  // bin edges are rounded to whole nanoseconds
    if (duration < bin_begin(bin)) --bin;
    WaitHistogram::Bin& one = bins[bin];
    ++(way == WaitWay::polling ? one.polling : way == WaitWay::parked ? one.parked : one.host);
  });
  for (const WaitWay way : kWaitWays) {
    FigureSums& of_way = sums[static_cast<std::size_t>(way)];
    if (of_way.waits() > 0) result.ways.push_back({way, of_way.figures()});
  }
  if (bins.empty()) return result;
  for (int bin = bins.begin()->first; bin <= bins.rbegin()->first; ++bin) {
    WaitHistogram::Bin one = bins[bin];
    one.begin = bin_begin(bin);
    one.end = bin_begin(bin + 1);
    histogram.most = std::max(histogram.most, one.count());
    histogram.bins.push_back(one);
  }
  return result;
}

}  // namespace wicprof::analyzer
