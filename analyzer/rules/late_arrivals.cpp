#include "analyzer/rules/late_arrivals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace wicprof::analyzer {

namespace {

/// The arrivals that make up this share of the cost say who is late; the others are too short to matter. A few long
/// ones among many short ones show in the first, a few alike in the second.
constexpr double kMostOfTheCost[] = {0.5, 0.8};

/// The probability that of `n` arrivals at least `k` are one rank's, where all `ranks` are late equally often; for any
/// of the ranks.
double by_chance(std::uint64_t k, std::uint64_t n, std::size_t ranks) {
  const double p = 1.0 / static_cast<double>(ranks);
  double sum = 0;
  for (std::uint64_t i = k; i <= n; ++i) {
    const auto a = static_cast<double>(i), b = static_cast<double>(n - i);
    sum += std::exp(std::lgamma(a + b + 1) - std::lgamma(a + 1) - std::lgamma(b + 1) + a * std::log(p) +
                    b * std::log1p(-p));
  }
  return std::min(1.0, sum * static_cast<double>(ranks));
}

}  // namespace

/// Of the two shares, the one that chance brings less often.
WorstArrivals worst_arrivals(const MpiWaits& mpi, store::ProcessId process) {
  TimeNs total = 0;
  for (const LateArrival& arrival : mpi.arrivals) total += arrival.cost_ns;
  WorstArrivals rarest;
  for (const double share : kMostOfTheCost) {
    WorstArrivals worst;
    TimeNs cost = 0;
    for (const LateArrival& arrival : mpi.arrivals) {
      if (static_cast<double>(cost) >= share * static_cast<double>(total)) break;
      cost += arrival.cost_ns;
      ++worst.all;
      worst.of_rank += arrival.late == process ? 1 : 0;
    }
    worst.chance =
        by_chance(worst.of_rank, worst.all, mpi.ranks.size()) * static_cast<double>(std::size(kMostOfTheCost));
    if (worst.chance < rarest.chance) rarest = worst;
  }
  return rarest;
}

}  // namespace wicprof::analyzer
