#include "analyzer/aggregates/distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

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

namespace {

/// The waits that one filter admits.
struct Distributed {
  std::array<WaitHistogram::Bin, kBins> bins{};
  FigureSums sums[std::size(kWaitWays)];
  std::uint64_t instant = 0;

  WaitDistribution finish(const BinEdges& edges) const {
    WaitDistribution result;
    WaitHistogram& histogram = result.histogram;
    histogram.instant = instant;
    for (const WaitWay way : kWaitWays) {
      const FigureSums& of_way = sums[static_cast<std::size_t>(way)];
      if (of_way.waits() > 0) result.ways.push_back({way, of_way.figures()});
    }
    std::size_t upto = kBins;
    while (upto > 0 && bins[upto - 1].count() == 0) --upto;
    for (std::size_t i = 0; i < upto; ++i) {
      if (histogram.bins.empty() && bins[i].count() == 0) continue;
      WaitHistogram::Bin& one = histogram.bins.emplace_back(bins[i]);
      one.begin = edges[i];
      one.end = edges[i + 1];
      histogram.most = std::max(histogram.most, one.count());
    }
    return result;
  }
};

}  // namespace

std::vector<WaitDistribution> wait_distributions(const TraceModel& model, const std::vector<WaitFilter>& filters) {
  const BinEdges edges;
  std::vector<Distributed> all(filters.size());
  for_each_wait(model, [&](const WaitView& wait) {
    const WaitWay way = way_of(wait);
    const TimeNs duration = wait.end - wait.begin;
    const bool instant = duration < edges[0];
    const std::size_t bin = instant ? 0 : edges.bin_of(duration);
    for (std::size_t i = 0; i < filters.size(); ++i) {
      if (!filters[i](wait.site, way, wait.begin, wait.end)) continue;
      Distributed& of = all[i];
      of.sums[static_cast<std::size_t>(way)].add(WorstWait::of(wait), filters[i].part(wait.begin, wait.end),
                                                 wait.polls);
      WaitHistogram::Bin& one = of.bins[bin];
      ++(instant ? of.instant : way == WaitWay::polling ? one.polling : way == WaitWay::parked ? one.parked : one.host);
    }
  });
  std::vector<WaitDistribution> results;
  for (const Distributed& of : all) results.push_back(of.finish(edges));
  return results;
}

WaitDistribution wait_distribution(const TraceModel& model, const WaitFilter& filter) {
  return std::move(wait_distributions(model, {filter}).front());
}

}  // namespace wicprof::analyzer
