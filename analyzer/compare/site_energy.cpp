#include "analyzer/compare/site_energy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/compare/energy.h"
#include "analyzer/measure/least_squares.h"
#include "analyzer/measure/unit_ratio.h"
#include "analyzer/trace/wait_view.h"

namespace wicprof::analyzer {
namespace {

/// With sums of their own; more unknowns need more blocks.
constexpr std::size_t kMostSites = 6;
/// A site that waits less, of all sites' time, is among the others.
constexpr double kLeastShare = 0.01;
/// A site whose waiters poll in parked phases for more than this share of their time in the others has not been
/// switched, and the modes do not tell what it takes.
constexpr double kMostParked = 0.5;

/// A phase of the schedule of which the power is known, and the block that it belongs to.
struct Phase {
  Interval time;
  bool parks = false;
  std::size_t block = 0;
};

/// What the polling phase of each block takes more than the parked one.
using PerBlock = std::vector<std::optional<double>>;

struct Blocks {
  std::vector<Phase> phases;  // in order: two of each block
  PerBlock more_watts;        // all are known
  PerBlock more_joules;       // of an iteration
};

Blocks find_blocks(const std::vector<Segment>& segments, const MeterReadings& meter) {
  struct Modes {
    std::optional<double> poll, park;
    std::optional<double> more() const { return poll && park ? std::optional(*poll - *park) : std::nullopt; }
  };
  std::map<std::uint32_t, std::pair<Modes, Modes>> all;  // watts, and joules of an iteration
  for (const Segment& segment : segments) {
    const std::optional<double> power = meter.watts(segment.begin_ns, segment.end_ns);
    if (!segment.block || !segment.apart.empty() || !power) continue;
    auto& [watts, joules] = all[*segment.block];
    const auto of_mode = segment.mode == Mode::park ? &Modes::park : &Modes::poll;
    watts.*of_mode = power;
    if (segment.iteration_ns_p50) joules.*of_mode = *power * static_cast<double>(*segment.iteration_ns_p50) / kSecond;
  }
  Blocks blocks;
  std::map<std::uint32_t, std::size_t> numbers;
  for (const auto& [block, of] : all) {
    if (!of.first.more()) continue;
    numbers[block] = blocks.more_watts.size();
    blocks.more_watts.push_back(of.first.more());
    blocks.more_joules.push_back(of.second.more());
  }
  for (const Segment& segment : segments) {
    const auto number = segment.block ? numbers.find(*segment.block) : numbers.end();
    if (number == numbers.end() || !segment.apart.empty()) continue;
    blocks.phases.push_back({{segment.begin_ns, segment.end_ns}, segment.mode == Mode::park, number->second});
  }
  return blocks;
}

/// How a site's waiters poll.
struct Site {
  std::string name;
  double seconds = 0;           // of all waiters, while the program polls
  double parked_seconds = 0;    // in the other phases
  std::vector<double> waiters;  // per block: that poll at a time in one phase, less those in the other
};

/// Those that were switched.
std::map<SiteId, Site> polling_sites(const TraceModel& model, const Blocks& blocks) {
  std::map<SiteId, Site> sites;
  for_each_wait(model, [&](const WaitView& wait) {
    if (wait.strategy != StrategyId::poll) return;
    auto phase = std::partition_point(blocks.phases.begin(), blocks.phases.end(),
                                      [&](const Phase& each) { return each.time.end <= wait.begin; });
    for (; phase != blocks.phases.end() && phase->time.begin < wait.end; ++phase) {
      Site& site = sites[wait.site];
      site.waiters.resize(blocks.more_watts.size());
      const TimeNs time = std::min(wait.end, phase->time.end) - std::max(wait.begin, phase->time.begin);
      const double share = static_cast<double>(time) / static_cast<double>(phase->time.end - phase->time.begin);
      site.waiters[phase->block] += phase->parks ? -share : share;
      (phase->parks ? site.parked_seconds : site.seconds) += static_cast<double>(time) / kSecond;
    }
  });
  std::erase_if(sites, [](const auto& site) { return site.second.parked_seconds > kMostParked * site.second.seconds; });
  return sites;
}

/// Those with the most time, and the others as one.
std::vector<Site> main_sites(const TraceModel& model, std::map<SiteId, Site> sites) {
  std::vector<std::pair<double, SiteId>> order;
  double all = 0;
  for (const auto& [id, site] : sites) {
    order.emplace_back(-site.seconds, id);
    all += site.seconds;
  }
  std::sort(order.begin(), order.end());
  std::vector<Site> main;
  Site others;
  for (const auto& [time, id] : order) {
    Site& site = sites[id];
    if (id != 0 && main.size() < kMostSites && site.seconds >= kLeastShare * all) {
      site.name = model.site_name(id);
      main.push_back(std::move(site));
      continue;
    }
    others.seconds += site.seconds;
    others.waiters.resize(site.waiters.size());
    for (std::size_t i = 0; i < site.waiters.size(); ++i) others.waiters[i] += site.waiters[i];
  }
  if (others.seconds >= kLeastShare * all && others.seconds > 0) main.push_back(std::move(others));
  return main;
}

/// The part of `more` of each site; empty where the blocks do not tell the sites apart, or are too few.
std::vector<Estimate> share_out(const PerBlock& more, const std::vector<Site>& sites) {
  std::vector<std::vector<double>> waiters;
  std::vector<double> results;
  for (std::size_t block = 0; block < more.size(); ++block) {
    if (!more[block]) continue;
    results.push_back(*more[block]);
    std::vector<double>& of_block = waiters.emplace_back();
    for (const Site& site : sites) of_block.push_back(site.waiters[block]);
  }
  std::vector<Estimate> parts;
  const std::optional<LeastSquares> found = least_squares(waiters, results, kMiss);
  for (std::size_t i = 0; found && i < sites.size(); ++i) {
    double mean = 0;  // waiters that poll, more than in the other phases
    for (const std::vector<double>& of_block : waiters) mean += of_block[i] / static_cast<double>(waiters.size());
    const double value = found->value[i] * mean, half = found->half_width[i] * std::abs(mean);
    parts.push_back({value, value - half, value + half});
  }
  return parts;
}

}  // namespace

std::vector<SiteEnergy> site_energy(const TraceModel& model, const std::vector<Segment>& segments,
                                    const MeterReadings& meter) {
  const Blocks blocks = find_blocks(segments, meter);
  if (blocks.phases.empty()) return {};
  const std::vector<Site> sites = main_sites(model, polling_sites(model, blocks));
  const std::vector<Estimate> watts = share_out(blocks.more_watts, sites);
  const std::vector<Estimate> joules = share_out(blocks.more_joules, sites);
  if (watts.empty()) return {};
  double time = 0;
  for (const Phase& phase : blocks.phases) {
    if (!phase.parks) time += static_cast<double>(phase.time.end - phase.time.begin) / kSecond;
  }
  std::vector<SiteEnergy> all;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    all.push_back({sites[i].name,
                   sites[i].seconds / time,
                   {watts[i], joules.empty() ? std::nullopt : std::optional(joules[i])},
                   watts[i].value * time});
  }
  return all;
}

}  // namespace wicprof::analyzer
