#include "analyzer/sites.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/statistics.h"
#include "store/lanes.h"

namespace wicprof::analyzer {
namespace {

/// The most intervals that hold at one time, which come in order of their begin. One without length counts as one
/// nanosecond long.
class AtOnce {
 public:
  void add(const Interval& interval) {
    while (!ends_.empty() && ends_.top() <= interval.begin) ends_.pop();
    ends_.push(std::max(interval.end, interval.begin + 1));
    most_ = std::max(most_, ends_.size());
  }
  std::uint32_t most() const { return static_cast<std::uint32_t>(most_); }

 private:
  std::priority_queue<TimeNs, std::vector<TimeNs>, std::greater<>> ends_;
  std::size_t most_ = 0;
};

/// What one pass over the waits collects for a site.
struct Gathered {
  std::vector<TimeNs> host_durations;
  std::vector<Interval> waiting;  // all waits
  AtOnce waiting_in_kernel, polling;
  std::map<StrategyId, std::vector<TimeNs>> by_strategy;  // in kernels
  std::map<StrategyId, std::uint64_t> polls_by_strategy;
  std::unordered_set<std::uint64_t> waiters;
  std::unordered_set<std::uint64_t> sms;
  std::unordered_map<std::uint64_t, AtOnce> waiting_by_word;  // in kernels
  std::set<WordTag> words;
  bool words_known = true;
  std::uint64_t polls = 0;
  std::uint64_t waits_with_polls = 0;
  std::uint64_t deadline_missed = 0;
  std::uint64_t host_count = 0;
};

/// A wait's length. Clock errors may turn a very short wait around; it then has none.
TimeNs length(TimeNs from, TimeNs to) { return std::max<TimeNs>(0, to - from); }

/// A device and something of it in one number. Devices count from -1 to some thousands.
std::uint64_t of_device(DeviceId device, std::uint64_t what) {
  return (static_cast<std::uint64_t>(static_cast<std::uint16_t>(device)) << 48) | what;
}

void add_word(Gathered& site, const std::optional<WordTag>& word) {
  if (word) {
    site.words.insert(*word);
  } else {
    site.words_known = false;
  }
}

std::map<SiteId, Gathered> gather(const TraceModel& model) {
  std::map<SiteId, Gathered> all;
  for (const store::WaitRow& wait : model.waits) {
    Gathered& site = all[wait.site];
    const TimeNs took = length(wait.arrived, wait.resumed);
    const Interval waiting{wait.arrived, wait.arrived + took};
    site.waiting.push_back(waiting);
    site.waiting_in_kernel.add(waiting);
    if (every_waiter_polls(wait.strategy)) site.polling.add(waiting);
    site.by_strategy[wait.strategy].push_back(took);
    site.polls_by_strategy[wait.strategy] += wait.polls;
    site.waiters.insert(of_device(wait.device, (std::uint64_t{wait.block} << 16) | (wait.warp & 0xffffu)));
    site.sms.insert(of_device(wait.device, wait.sm));
    if (wait.word) site.waiting_by_word[of_device(wait.device, *wait.word)].add(waiting);
    add_word(site, wait.word);
    site.polls += wait.polls;
    ++site.waits_with_polls;
    if (wait.status == WaitStatus::deadline_passed) ++site.deadline_missed;
  }
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site == 0) continue;
    Gathered& site = all[wait.site];
    const TimeNs took = length(wait.begin, wait.end);
    site.host_durations.push_back(took);
    site.waiting.push_back({wait.begin, wait.begin + took});
    site.waiters.insert(of_device(kHostDevice, std::uint64_t{wait.thread} << 16));
    add_word(site, wait.word);
    if (wait.polls) {
      site.polls += *wait.polls;
      ++site.waits_with_polls;
    }
    if (wait.status == WaitStatus::deadline_passed) ++site.deadline_missed;
    ++site.host_count;
  }
  return all;
}

TimeNs sum(const std::vector<TimeNs>& values) {
  TimeNs total = 0;
  for (const TimeNs value : values) total += value;
  return total;
}

std::vector<StrategyStats> strategy_stats(const Gathered& gathered) {
  std::vector<StrategyStats> list;
  for (const auto& [strategy, durations] : gathered.by_strategy) {
    StrategyStats stats;
    stats.strategy = strategy;
    stats.count = durations.size();
    stats.total_ns = sum(durations);
    stats.p50_ns = percentile(durations, 50);
    stats.p99_ns = percentile(durations, 99);
    stats.polls = gathered.polls_by_strategy.at(strategy);
    stats.polls_per_wait = static_cast<double>(stats.polls) / static_cast<double>(stats.count);
    list.push_back(stats);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

SiteStats stats_of(const TraceModel& model, SiteId id, Gathered& gathered) {
  SiteStats stats;
  stats.site = id;
  stats.name = model.site_name(id);
  if (const store::SiteRow* row = model.site(id)) {
    stats.word_memory = row->word_memory;
    stats.pollers = row->pollers;
    stats.words = row->words;
    stats.declared = true;
  }
  stats.strategies = strategy_stats(gathered);
  std::vector<TimeNs> durations = std::move(gathered.host_durations);
  for (auto& [strategy, times] : gathered.by_strategy) {
    durations.insert(durations.end(), times.begin(), times.end());
    times = {};
  }
  stats.count = durations.size();
  stats.host_count = gathered.host_count;
  stats.groups = gathered.waiters.size();
  stats.sms = static_cast<std::uint32_t>(gathered.sms.size());
  stats.total_ns = sum(durations);
  stats.p50_ns = percentile(durations, 50);
  stats.p99_ns = percentile(durations, 99);
  stats.max_ns = percentile(std::move(durations), 100);
  stats.any_waiting_ns = covered(std::move(gathered.waiting));
  if (model.span() > 0) {
    const auto span = static_cast<double>(model.span());
    stats.share = static_cast<double>(stats.total_ns) / (static_cast<double>(stats.groups) * span);
    stats.any_share = static_cast<double>(stats.any_waiting_ns) / span;
  }
  stats.polls = gathered.polls;
  if (gathered.waits_with_polls > 0) {
    stats.polls_per_wait = static_cast<double>(gathered.polls) / static_cast<double>(gathered.waits_with_polls);
  }
  stats.deadline_missed = gathered.deadline_missed;
  stats.max_waiting = gathered.waiting_in_kernel.most();
  stats.max_polling = gathered.polling.most();
  if (gathered.words_known) {
    stats.words_seen = static_cast<std::uint32_t>(gathered.words.size());
    for (const auto& [word, waiting] : gathered.waiting_by_word) {
      stats.waiters_a_word = std::max(stats.waiters_a_word.value_or(0), waiting.most());
    }
  }
  for (const store::ChoiceRow& choice : model.choices) {
    if (choice.site != id) continue;
    stats.choice = choice;
    ++stats.choices;
  }
  return stats;
}

}  // namespace

bool every_waiter_polls(StrategyId strategy) { return store::every_waiter_polls(strategy); }

std::optional<StrategyId> SiteStats::main_strategy() const {
  if (strategies.empty()) return std::nullopt;
  return strategies.front().strategy;
}

std::vector<SiteStats> site_stats(const TraceModel& model) {
  std::map<SiteId, Gathered> gathered = gather(model);
  std::vector<SiteStats> list;
  list.reserve(gathered.size());
  for (auto& [id, site] : gathered) list.push_back(stats_of(model, id, site));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

}  // namespace wicprof::analyzer
