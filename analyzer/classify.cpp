#include "analyzer/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/iterations.h"
#include "analyzer/reports/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer iterations than this show no regularity.
constexpr std::size_t kMinIterations = 3;
/// A count that holds in this part of all iterations is the program's; the rest may be lost records and start-up.
constexpr double kRegular = 0.9;
/// How many iterations weigh as much as having seen none: 8 iterations give a confidence of 0.8, 200 one of 0.99.
constexpr double kPriorIterations = 2;
/// The first and last iterations are often seen in part only. They are left out where enough others remain.
constexpr std::size_t kTrimFrom = 6;

/// A side of the communication: the CPU, a device, or the blocks of one device that play one role.
using Party = std::pair<DeviceId, std::uint32_t>;

/// One end of a wake edge, as far as roles need it.
struct End {
  DeviceId device = 0;
  std::uint32_t block = 0;
};

struct Transfer {
  End from, to;
  SiteId site = 0;
  std::uint64_t waiter = 0;
  std::uint32_t value = 0;
  std::uint32_t iteration = 0;  ///< the waiter's
  TimeNs arrived = 0;
};

std::vector<Transfer> transfers_of(const TraceModel& model, const Matching& matching) {
  std::vector<Transfer> transfers;
  transfers.reserve(matching.edges.size());
  for (const WakeEdge& edge : matching.edges) {
    const store::SignalRow& signal = model.signals[edge.signal];
    Transfer transfer;
    transfer.from = {signal.device, signal.block};
    transfer.site = signal.site;
    transfer.value = signal.value;
    if (edge.host) {
      const store::HostWaitRow& wait = model.host_waits[edge.wait];
      transfer.to = {kHostDevice, wait.thread};
      transfer.waiter = wait.thread;
      transfer.iteration = wait.iteration;
      transfer.arrived = wait.begin;
    } else {
      const store::WaitRow& wait = model.waits[edge.wait];
      transfer.to = {wait.device, wait.block};
      transfer.waiter = (std::uint64_t{wait.block} << 16) | (wait.warp & 0xffffu);
      transfer.iteration = wait.iteration;
      transfer.arrived = wait.arrived;
    }
    transfers.push_back(transfer);
  }
  return transfers;
}

/// Tells parties apart: by device where devices talk to each other, else by the role of each block.
class Parties {
 public:
  explicit Parties(const std::vector<Transfer>& transfers) {
    across_ =
        std::any_of(transfers.begin(), transfers.end(), [](const Transfer& t) { return t.from.device != t.to.device; });
    if (across_) return;
    // Blocks that signal and wait at the same sites play the same role.
    for (const Transfer& t : transfers) {
      roles_[{t.from.device, t.from.block}].first.insert(t.site);
      roles_[{t.to.device, t.to.block}].second.insert(t.site);
    }
    for (const auto& [block, role] : roles_) numbers_.try_emplace(role, static_cast<std::uint32_t>(numbers_.size()));
  }

  bool across_devices() const { return across_; }

  Party of(const End& end) const {
    if (across_) return {end.device, 0};
    return {end.device, numbers_.at(roles_.at({end.device, end.block}))};
  }

  std::string name(const TraceModel& model, const Party& party) const {
    if (across_) return model.device_name(party.first);
    std::size_t blocks = 0;
    std::uint32_t example = 0;
    for (const auto& [block, role] : roles_) {
      if (block.first != party.first || numbers_.at(role) != party.second) continue;
      if (blocks++ == 0) example = block.second;
    }
    if (blocks == 1) return fmt::format("block {} of {}", example, model.device_name(party.first));
    return fmt::format("{} of {}", count_of(blocks, "block"), model.device_name(party.first));
  }

 private:
  using Role = std::pair<std::set<SiteId>, std::set<SiteId>>;  // signals at, waits at
  bool across_ = false;
  std::map<Party, Role> roles_;
  std::map<Role, std::uint32_t> numbers_;
};

/// Transfers in each direction between two parties, iteration by iteration.
struct Counts {
  std::uint32_t forth = 0, back = 0;
  bool operator==(const Counts&) const = default;
  bool operator<(const Counts& other) const { return std::pair(forth, back) < std::pair(other.forth, other.back); }
};

using IterationKey = std::pair<std::uint32_t, std::uint32_t>;  // run, number

/// Numbers the runs of each site's waiters, as iterations.h does.
class Runs {
 public:
  explicit Runs(const std::vector<Transfer>& transfers) {
    std::map<Where, std::vector<Arrival>> arrivals;
    for (const Transfer& t : transfers) arrivals[where(t)].push_back({t.waiter, t.iteration, t.arrived});
    for (auto& [place, list] : arrivals) boundaries_[place] = find_runs(std::move(list));
  }
  IterationKey of(const Transfer& t) const { return {boundaries_.at(where(t)).run_of(t.arrived), t.iteration}; }

 private:
  using Where = std::pair<SiteId, DeviceId>;
  static Where where(const Transfer& t) { return {t.site, t.to.device}; }
  std::map<Where, RunBoundaries> boundaries_;
};

/// In one iteration and direction a site carries as many transfers as one waiter waited there, or as there were
/// different values: many waiters released by one signal are one transfer.
class Tally {
 public:
  void add(const Transfer& t) {
    PerSite& site = sites_[t.site];
    site.values.insert(t.value);
    site.most_by_waiter = std::max(site.most_by_waiter, ++site.by_waiter[{t.to.device, t.waiter}]);
  }
  std::uint32_t transfers() const {
    std::size_t sum = 0;
    for (const auto& [id, site] : sites_) sum += std::max<std::size_t>(site.values.size(), site.most_by_waiter);
    return static_cast<std::uint32_t>(sum);
  }

 private:
  struct PerSite {
    std::set<std::uint32_t> values;
    std::map<std::pair<DeviceId, std::uint64_t>, std::uint32_t> by_waiter;
    std::uint32_t most_by_waiter = 0;
  };
  std::map<SiteId, PerSite> sites_;
};

std::vector<Counts> count_iterations(const std::vector<const Transfer*>& transfers, const Runs& runs,
                                     const Parties& parties, const Party& first) {
  struct Both {
    Tally forth, back;
  };
  std::map<IterationKey, Both> tallies;
  for (const Transfer* t : transfers) {
    Both& both = tallies[runs.of(*t)];
    (parties.of(t->from) == first ? both.forth : both.back).add(*t);
  }
  std::vector<Counts> counts;
  const bool trim = tallies.size() >= kTrimFrom;
  for (auto entry = tallies.begin(); entry != tallies.end(); ++entry) {
    const bool starts_run = entry == tallies.begin() || std::prev(entry)->first.first != entry->first.first;
    const bool ends_run = std::next(entry) == tallies.end() || std::next(entry)->first.first != entry->first.first;
    if (trim && (starts_run || ends_run)) continue;
    counts.push_back({entry->second.forth.transfers(), entry->second.back.transfers()});
  }
  return counts;
}

std::pair<Counts, double> most_common(const std::vector<Counts>& counts) {
  std::map<Counts, std::size_t> frequency;
  for (const Counts& c : counts) ++frequency[c];
  const auto most = std::max_element(frequency.begin(), frequency.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most->first, static_cast<double>(most->second) / static_cast<double>(counts.size())};
}

/// The share of neighbouring iterations between which a single transfer changes its direction.
double share_of_turns(const std::vector<Counts>& counts) {
  std::size_t turns = 0;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const bool single = counts[i].forth + counts[i].back == 1;
    if (single && counts[i - 1] == Counts{counts[i].back, counts[i].forth}) ++turns;
  }
  return counts.size() < 2 ? 0 : static_cast<double>(turns) / static_cast<double>(counts.size() - 1);
}

std::string range_of(const std::vector<Counts>& counts, std::uint32_t Counts::*side) {
  std::uint32_t least = ~0u;
  std::uint32_t most = 0;
  for (const Counts& c : counts) {
    least = std::min(least, c.*side);
    most = std::max(most, c.*side);
  }
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::uint64_t lost_records(const TraceModel& model) {
  std::uint64_t lost = 0;
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
      lost += static_cast<std::uint64_t>(stat.value);
  }
  return lost;
}

/// The part of the records that could be used: what was lost, and waits whose signal is not known, count against it.
double trust_in_records(const TraceModel& model, const Matching& matching, std::vector<std::string>& evidence) {
  double trust = 1;
  if (const std::uint64_t lost = lost_records(model); lost > 0) {
    const auto kept = static_cast<double>(model.waits.size() + model.signals.size() + model.host_waits.size());
    trust *= kept / (kept + static_cast<double>(lost));
    evidence.push_back(fmt::format("{} lost, which lowers the confidence", count_of(lost, "record")));
  }
  std::uint64_t unmatched = 0;
  for (const WakeStats& site : matching.sites) unmatched += site.unmatched;
  if (unmatched > 0) {
    const auto matched = static_cast<double>(matching.edges.size());
    trust *= matched / (matched + static_cast<double>(unmatched));
    evidence.push_back(
        fmt::format("{} without a recorded signal, which lowers the confidence", count_of(unmatched, "wait")));
  }
  return trust;
}

std::string why_no_edges(const TraceModel& model) {
  const bool host =
      std::any_of(model.host_waits.begin(), model.host_waits.end(), [](const auto& w) { return w.site != 0; });
  if (model.waits.empty() && !host) return "no waits at wait sites are recorded, so nobody is seen to wait for anybody";
  if (model.signals.empty()) return "waits are recorded but no signals, so it is not known who released them";
  return "no recorded signal matches a recorded wait, so it is not known who released whom";
}

/// What the counts say: the model, how sure they make us, and the words for it.
struct Shape {
  Model model = Model::unknown;
  double confidence = 0;
  std::string words;
};

Shape shape_of(const std::vector<Counts>& counts) {
  const auto [usual, share] = most_common(counts);
  const std::string part = format_percent(share);
  if (const double turns = share_of_turns(counts); turns >= kRegular) {
    return {Model::alternating, turns,
            fmt::format("one transfer an iteration, whose direction turns in {} of them", format_percent(turns))};
  }
  if (share < kRegular) {
    // Surer the less of the iterations any one count explains.
    return {Model::probabilistic, std::min(1.0, (1 - share) / 0.5),
            fmt::format("the most common count ({} forth, {} back) holds in {} of the iterations only", usual.forth,
                        usual.back, part)};
  }
  const std::string same = fmt::format("{} forth and {} back in {} of the iterations", usual.forth, usual.back, part);
  if (usual.forth == 0 || usual.back == 0) return {Model::unidirectional, share, "one side always produces: " + same};
  if (usual.forth == 1 && usual.back == 1) return {Model::alternating, share, "one transfer each way: " + same};
  return {Model::multiple, share, "several transfers, the same counts every iteration: " + same};
}

}  // namespace

std::string_view model_name(Model model) {
  switch (model) {
    case Model::unidirectional:
      return "unidirectional";
    case Model::alternating:
      return "alternating";
    case Model::multiple:
      return "multiple";
    case Model::probabilistic:
      return "probabilistic";
    case Model::unknown:
      break;
  }
  return "unknown";
}

std::string_view pattern_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::streaming:
      return "streaming";
    case Pattern::adjacent:
      return "adjacent";
    case Pattern::scatter_gather:
      return "scatter-gather";
    case Pattern::random:
      return "random";
    case Pattern::unknown:
      break;
  }
  return "unknown";
}

Classification classify(const TraceModel& model, const Matching& matching) {
  Classification result;
  const std::string no_pattern =
      "pattern unknown: it shows in the addresses of messages, and the trace holds no message records";
  const std::vector<Transfer> transfers = transfers_of(model, matching);
  if (transfers.empty()) {
    result.evidence = {"model unknown: " + why_no_edges(model), no_pattern};
    return result;
  }

  const Parties parties(transfers);
  std::map<std::pair<Party, Party>, std::vector<const Transfer*>> pairs;
  for (const Transfer& t : transfers) {
    const Party from = parties.of(t.from);
    const Party to = parties.of(t.to);
    if (parties.across_devices() && from == to) continue;  // within a device; the devices' talk is the program's
    pairs[std::minmax(from, to)].push_back(&t);
  }
  // The pair with the most edges; among equals the one that talked first, not the one with the lower number.
  const auto busiest = std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
    return a.second.front()->arrived > b.second.front()->arrived;
  });
  if (busiest->first.first == busiest->first.second) {
    result.evidence = {
        fmt::format("model unknown: {} signal and wait at the same sites, so there are no two sides to tell apart",
                    parties.name(model, busiest->first.first)),
        no_pattern};
    return result;
  }

  // "Forth" is the direction of the first transfer.
  const auto& between = busiest->second;
  const auto earliest = *std::min_element(between.begin(), between.end(),
                                          [](const Transfer* a, const Transfer* b) { return a->arrived < b->arrived; });
  const Party first = parties.of(earliest->from);
  const Party second = parties.of(earliest->to);
  const std::vector<Counts> counts = count_iterations(between, Runs(transfers), parties, first);
  const std::string who = fmt::format("{} and {} (forth: from the first to the second)", parties.name(model, first),
                                      parties.name(model, second));
  if (counts.size() < kMinIterations) {
    result.evidence = {fmt::format("model unknown: {} with signals between {}; at least {} are needed",
                                   count_of(counts.size(), "iteration"), who, kMinIterations),
                       no_pattern};
    return result;
  }

  const Shape shape = shape_of(counts);
  const auto n = static_cast<double>(counts.size());
  result.model = shape.model;
  result.evidence.push_back(fmt::format("{} between {}: {}", count_of(counts.size(), "iteration"), who, shape.words));
  result.evidence.push_back(fmt::format("transfers an iteration: {} forth, {} back", range_of(counts, &Counts::forth),
                                        range_of(counts, &Counts::back)));
  if (pairs.size() > 1) {
    result.evidence.push_back(fmt::format("{} more of parties that signal each other are not counted here",
                                          count_of(pairs.size() - 1, "pair")));
  }
  const double trust = trust_in_records(model, matching, result.evidence);
  result.model_confidence = shape.confidence * n / (n + kPriorIterations) * trust;
  result.evidence.push_back(no_pattern);
  return result;
}

}  // namespace wicprof::analyzer
