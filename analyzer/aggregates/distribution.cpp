#include "analyzer/aggregates/distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace wicprof::analyzer {
namespace {

constexpr double kBinsPerDecade = 8;
constexpr double kShortest = 10;  // ns; begin of bin 0

constexpr std::size_t kBins = 144;  // as many begin before the longest time

class BinEdges {
 public:
  BinEdges() {
    for (std::size_t i = 0; i < kBins; ++i)
      edges_[i] = std::lround(kShortest * std::pow(10.0, static_cast<double>(i) / kBinsPerDecade));
    edges_[kBins] = std::numeric_limits<TimeNs>::max();
    for (std::size_t width = 1; width < first_.size(); ++width) first_[width] = search(TimeNs{1} << (width - 1));
  }
  /// In whole ns: where a bin begins, and the one before ends.
  TimeNs operator[](std::size_t i) const { return edges_[i]; }
  /// The bin of a length of at least the first edge. A binary digit more is less than three bins.
  std::size_t bin_of(TimeNs length) const {
    std::size_t bin = first_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)))];
    while (edges_[bin + 1] <= length) ++bin;
    return bin;
  }

 private:
  std::size_t search(TimeNs length) const {
    const auto after = std::upper_bound(edges_.begin(), edges_.end() - 1, length);
    return after == edges_.begin() ? 0 : static_cast<std::size_t>(after - edges_.begin() - 1);
  }

  std::array<TimeNs, kBins + 1> edges_;
  std::array<std::size_t, 64> first_{};  // by the binary digits of a length: the bin of the least one that has so many
};

}  // namespace

std::uint64_t WaitHistogram::most_of(std::optional<WaitWay> way) const {
  if (!way) return most;
  std::uint64_t highest = 0;
  for (const Bin& bin : bins) highest = std::max(highest, bin.of(*way));
  return highest;
}

WaitDistribution wait_distribution(const TraceModel& model, const WaitFilter& filter) {
  const BinEdges edges;
  std::array<WaitHistogram::Bin, kBins> bins;
  WaitDistribution result;
  WaitHistogram& histogram = result.histogram;
  FigureSums sums[std::size(kWaitWays)];
  for_each_wait(model, [&](const WaitView& wait) {
    const WaitWay way = way_of(wait);
    if (!filter(wait.site, way, wait.begin, wait.end)) return;
    sums[static_cast<std::size_t>(way)].add(WorstWait::of(wait), filter.part(wait.begin, wait.end), wait.polls);
    const TimeNs duration = wait.end - wait.begin;
    if (duration < edges[0]) {
      ++histogram.instant;
      return;
    }
    WaitHistogram::Bin& one = bins[edges.bin_of(duration)];
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
