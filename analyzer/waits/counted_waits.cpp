#include "analyzer/waits/counted_waits.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace wicprof::analyzer {

namespace {

// As much as a time can be, for counts of a damaged trace.
constexpr double kLongest = 9e18;

struct Sums {
  std::uint64_t counted = 0, longer = 0, recorded = 0, sampled = 0, rounds = 0;
  double sampled_ns = 0, variance = 0;
  bool is_exact = true;
};

/// Of the estimated number of waits: the parts' numbers vary as much as chance makes them, and so does their sum.
double variance_of(const store::WaitCountRow& row) {
  constexpr double kParts = kSampleParts;
  const auto sampled = static_cast<double>(row.sampled), squares = static_cast<double>(row.sampled_squares);
  const auto one_in = static_cast<double>(row.one_in);
  return std::max(0.0, kParts / (kParts - 1) * (squares - sampled * sampled / kParts)) * one_in * (one_in - 1);
}

}  // namespace

std::vector<CountedWaits> counted_waits(const TraceModel& model) {
  std::map<SiteId, Sums> sites;
  for (const store::WaitCountRow& row : model.wait_counts) {
    Sums& sums = sites[row.site];
    sums.counted += row.waits;
    sums.longer += row.looked;
    sums.sampled += row.sampled;
    sums.rounds += row.sampled_rounds;
    sums.sampled_ns += static_cast<double>(row.sampled_time);
    sums.is_exact &= row.is_exact != 0;
    if (row.is_exact == 0) sums.variance += variance_of(row);
  }
  if (sites.empty()) return {};
  for (const auto& wait : model.waits) {
    if (const auto found = sites.find(wait.site); found != sites.end()) ++found->second.recorded;
  }
  std::vector<CountedWaits> all;
  for (const auto& [site, sums] : sites) {
    CountedWaits& each = all.emplace_back();
    each.site = site;
    each.name = model.site_name(site);
    each.counted = sums.counted;
    each.longer = sums.longer;
    each.recorded = sums.recorded;
    each.sampled = sums.sampled;
    each.is_exact = sums.is_exact;
    if (!sums.is_exact && sums.sampled >= kFewestSampled) each.standard_error = std::sqrt(sums.variance);
    if (sums.sampled == 0 || sums.rounds == 0) continue;
    const auto sampled = static_cast<double>(sums.sampled);
    const auto shorter = static_cast<double>(sums.counted - std::min(sums.longer, sums.counted));
    each.rounds = static_cast<double>(sums.rounds) / sampled;
    each.mean_ns = static_cast<TimeNs>(std::min(sums.sampled_ns / sampled, kLongest));
    each.time_ns = static_cast<TimeNs>(std::min(sums.sampled_ns / sampled * shorter, kLongest));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.counted > b.counted; });
  return all;
}

}  // namespace wicprof::analyzer
