#include "analyzer/waits/counted_waits.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace wicprof::analyzer {

namespace {

// As much as a time can be, for counts of a damaged trace.
constexpr double kLongest = 9e18;

struct Sums {
  std::int64_t counted = 0, sampled = 0;
  std::uint64_t longer = 0, recorded = 0, timed = 0, rounds = 0, one_in = 1;
  double timed_ns = 0, variance = 0;
};

/// Of the estimated number of waits: the parts' numbers vary as much as chance makes them, and so does their sum.
double variance_of(const store::WaitCountRow& row) {
  constexpr double kParts = kSampleParts;
  const auto sampled = static_cast<double>(row.sampled), squares = static_cast<double>(row.sampled_squares);
  const auto one_in = static_cast<double>(row.one_in);
  return std::max(0.0, kParts / (kParts - 1) * (squares - sampled * sampled / kParts)) * one_in * (one_in - 1);
}

CountedWaits counted_of(const Sums& sums) {
  CountedWaits all;
  all.longer = sums.longer;
  all.recorded = sums.recorded;
  // Where the recording began or ended among waits, more may have been taken from the sample than were added.
  all.sampled = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sums.sampled));
  all.one_in = sums.one_in;
  // Where the ends of waits are not known, the sample has longer ones as well.
  const bool ends_known = sums.longer == 0 || sums.counted != sums.sampled * static_cast<std::int64_t>(sums.one_in);
  all.at_least = ends_known ? sums.longer + all.sampled : std::max(sums.longer, all.sampled);
  const double error = std::sqrt(sums.variance);
  const auto counted = std::max(static_cast<std::uint64_t>(std::max<std::int64_t>(0, sums.counted)), all.at_least);
  const auto estimated = static_cast<double>(ends_known ? counted - sums.longer : counted);
  if (all.sampled < kFewestSampled || error > kLargestError * estimated) return all;
  all.counted = counted;
  all.standard_error = error;
  if (sums.timed < kFewestSampled) return all;
  const auto timed = static_cast<double>(sums.timed);
  all.rounds = static_cast<double>(sums.rounds) / timed;
  all.mean_ns = static_cast<TimeNs>(std::min(sums.timed_ns / timed, kLongest));
  all.time_ns = static_cast<TimeNs>(std::min(sums.timed_ns / timed * estimated, kLongest));
  return all;
}

}  // namespace

std::vector<CountedWaits> counted_waits(const TraceModel& model) {
  std::map<SiteId, Sums> sites;
  for (const store::WaitCountRow& row : model.wait_counts) {
    Sums& sums = sites[row.site];
    sums.counted += row.waits;
    sums.longer += row.looked;
    sums.sampled += row.sampled;
    sums.timed += row.timed;
    sums.rounds += row.timed_rounds;
    sums.timed_ns += static_cast<double>(row.timed_time);
    sums.one_in = std::max<std::uint64_t>(sums.one_in, row.one_in);
    sums.variance += variance_of(row);
  }
  if (sites.empty()) return {};
  for (const auto& wait : model.waits) {
    if (const auto found = sites.find(wait.site); found != sites.end()) ++found->second.recorded;
  }
  std::vector<CountedWaits> all;
  for (const auto& [site, sums] : sites) {
    CountedWaits& each = all.emplace_back(counted_of(sums));
    each.site = site;
    each.name = model.site_name(site);
  }
  const auto number = [](const CountedWaits& each) { return each.counted.value_or(each.at_least); };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return number(a) > number(b); });
  return all;
}

}  // namespace wicprof::analyzer
