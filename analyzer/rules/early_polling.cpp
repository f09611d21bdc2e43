// Waiters that poll while others at the same site still compute the work before their wait (figures 6 and 7 of the WIC
// paper).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

/// Early polling worth a change: its share of all polling, and its share of the waiters' time. Not calibrated; see
/// EarlyPolling in tests/analyzer/rules_test.cpp.
constexpr double kEarlyShare = 0.25;
constexpr double kWorthNamingEarly = 0.05;
/// Waiters per iteration: a single waiter cannot be earlier than the others.
constexpr std::size_t kFewest = 2;

struct Early {
  TimeNs polling = 0, early = 0;  ///< all polling, and its part before the round's last waiter arrived
  std::uint64_t rounds = 0, waits = 0;
};

bool polls(StrategyId strategy) { return every_waiter_polls(strategy) || strategy == StrategyId::naive; }

/// The waits of one iteration at one site on one device, added in order of arrival.
class Round {
 public:
  /// Whether the wait belongs to the open iteration. A wait that arrives after all others have resumed belongs to a
  /// later iteration with the same number.
  bool takes(const store::WaitRow& wait) const {
    return count_ > 0 && wait.iteration == number_ && wait.arrived <= until_;
  }

  void add(const store::WaitRow& wait) {
    number_ = wait.iteration;
    last_ = wait.arrived;
    until_ = std::max(count_ == 0 ? wait.resumed : until_, wait.resumed);
    ++count_;
    if (polls(wait.strategy) && wait.resumed > wait.arrived) polling_.push_back({wait.arrived, wait.resumed});
  }

  void close(Early& early) {
    if (count_ >= kFewest) {
      ++early.rounds;
      early.waits += polling_.size();
      for (const Interval& wait : polling_) {
        early.polling += wait.end - wait.begin;
        early.early += std::clamp<TimeNs>(last_ - wait.begin, 0, wait.end - wait.begin);
      }
    }
    count_ = 0;
    polling_.clear();
  }

 private:
  std::uint32_t number_ = 0;
  std::size_t count_ = 0;
  TimeNs last_ = 0, until_ = 0;
  std::vector<Interval> polling_;
};

/// All iterations of a site on a device. Open iterations have close numbers, so a ring of 256 rounds suffices; an
/// iteration that lags further behind counts as two.
struct Rounds {
  std::array<Round, 256> open;
  Early early;

  void add(const store::WaitRow& wait) {
    Round& round = open[wait.iteration % open.size()];
    if (!round.takes(wait)) round.close(early);
    round.add(wait);
  }
};

}  // namespace

template <>
RuleOutcome apply<struct EarlyPolling>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.waits.empty()) {
    outcome.refused = missing::kNoKernelWaits;
    return outcome;
  }
  std::map<std::pair<SiteId, DeviceId>, Rounds> rounds_by_site;
  Rounds* rounds = nullptr;
  std::pair<SiteId, DeviceId> key{};
  for (const store::WaitRow& wait : model.waits) {
    if (rounds == nullptr || key != std::pair(wait.site, wait.device)) {
      key = {wait.site, wait.device};
      rounds = &rounds_by_site[key];
    }
    rounds->add(wait);
  }
  for (auto& [where, all] : rounds_by_site) {
    for (Round& round : all.open) round.close(all.early);
    const Early& early = all.early;
    const auto site = std::find_if(input.sites.begin(), input.sites.end(),
                                   [&](const SiteStats& stats) { return stats.site == where.first; });
    if (early.polling <= 0 || site == input.sites.end()) continue;
    const double share = static_cast<double>(early.early) / static_cast<double>(early.polling);
    const double of_time =
        static_cast<double>(early.early) /
        (static_cast<double>(std::max<TimeNs>(1, input.ground_ns())) * static_cast<double>(site->groups));
    if (share < kEarlyShare || of_time < kWorthNamingEarly) continue;
    Finding finding;
    finding.site = site->site;
    finding.site_name = site->name;
    finding.cost = Cost{Cost::Unit::time, of_time};
    finding.severity = Severity::warning;
    finding.text = fmt::format(
        "{} of the polling at {} happens while other waiters of the same iteration still compute: it takes their issue "
        "slots",
        format_percent(share), one_line(site->name));
    finding.evidence = fmt::format(
        "{} in {} polled for {}, {} of it before the last waiter of their iteration had arrived, which is {} of each "
        "waiter's time",
        count_of(early.waits, "wait"), count_of(early.rounds, "iteration"), format_duration(early.polling),
        format_duration(early.early), format_percent(of_time));
    finding.remedy =
        park_command(model, site->name,
                     site->words == 1 && site->word_memory != WordMemory::device ? StrategyId::shared_watch
                                                                                 : StrategyId::leader_bar_sync);
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
