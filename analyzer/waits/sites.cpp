#include "analyzer/waits/sites.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "store/summaries/lanes.h"

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

/// The union of intervals that come in order of their begin.
class Union {
 public:
  void add(const Interval& interval) {
    if (!parts_.empty() && interval.begin <= parts_.back().end) {
      parts_.back().end = std::max(parts_.back().end, interval.end);
    } else {
      parts_.push_back(interval);
    }
  }
  std::vector<Interval> with(const Union& other) && {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
    return std::move(parts_);
  }

 private:
  std::vector<Interval> parts_;
};

/// The waits of one strategy in kernels.
struct OfStrategy {
  std::vector<TimeNs> durations;
  std::uint64_t polls = 0;
};

/// What one pass over the waits collects for a site.
struct Gathered {
  std::vector<TimeNs> host_durations;
  Union waiting, host_waiting;
  AtOnce waiting_in_kernel, polling;
  std::map<StrategyId, OfStrategy> by_strategy;  // in kernels
  std::vector<bool> waiters;                     // by number
  std::uint64_t groups = 0;                      // of these that waited
  FlatIndex sms, words;
  FlatIndex words_of_devices;
  std::vector<AtOnce> waiting_by_word;  // in kernels, of one device
  bool words_known = true;
  std::uint64_t polls = 0;
  std::uint64_t waits_with_polls = 0;
  std::uint64_t deadline_missed = 0;
  std::uint64_t host_count = 0;

  void add_waiter(std::uint32_t waiter) {
    if (waiters.size() <= waiter) waiters.resize(waiter + 1);
    if (waiters[waiter]) return;
    waiters[waiter] = true;
    ++groups;
  }
  void add_word(const std::optional<WordTag>& word) {
    if (word) {
      words.number(*word);
    } else {
      words_known = false;
    }
  }
};

/// A wait's length. Clock errors may turn a very short wait around; it then has none.
TimeNs length(TimeNs from, TimeNs to) { return std::max<TimeNs>(0, to - from); }

/// A device and something of it in one number. Devices count from -1 to some thousands.
std::uint64_t of_device(DeviceId device, std::uint64_t what) {
  return (static_cast<std::uint64_t>(static_cast<std::uint16_t>(device)) << 48) | what;
}

std::map<SiteId, Gathered> gather(const TraceModel& model, const Waiters& waiters) {
  std::map<SiteId, Gathered> all;
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    Gathered& site = all[wait.site];
    const TimeNs took = length(wait.arrived, wait.resumed);
    const Interval waiting{wait.arrived, wait.arrived + took};
    site.waiting.add(waiting);
    site.waiting_in_kernel.add(waiting);
    if (every_waiter_polls(wait.strategy)) site.polling.add(waiting);
    OfStrategy& strategy = site.by_strategy[wait.strategy];
    strategy.durations.push_back(took);
    strategy.polls += wait.polls;
    site.add_waiter(waiters.of_wait(i));
    site.sms.number(of_device(wait.device, wait.sm));
    if (wait.word) {
      const std::uint32_t word = site.words_of_devices.number(of_device(wait.device, *wait.word));
      if (word == site.waiting_by_word.size()) site.waiting_by_word.emplace_back();
      site.waiting_by_word[word].add(waiting);
    }
    site.add_word(wait.word);
    site.polls += wait.polls;
    ++site.waits_with_polls;
    if (wait.status == WaitStatus::deadline_passed) ++site.deadline_missed;
  }
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow& wait = model.host_waits[i];
    if (wait.site == 0) continue;
    Gathered& site = all[wait.site];
    const TimeNs took = length(wait.begin, wait.end);
    site.host_durations.push_back(took);
    site.host_waiting.add({wait.begin, wait.begin + took});
    site.add_waiter(waiters.of_host_wait(i));
    site.add_word(wait.word);
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

std::vector<StrategyStats> strategy_stats(Gathered& gathered) {
  std::vector<StrategyStats> list;
  for (auto& [strategy, waits] : gathered.by_strategy) {
    StrategyStats stats;
    stats.strategy = strategy;
    stats.count = waits.durations.size();
    stats.total_ns = sum(waits.durations);
    stats.p50_ns = percentile_in_place(waits.durations, 50);
    stats.p99_ns = percentile_in_place(waits.durations, 99);
    stats.polls = waits.polls;
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
  for (auto& [strategy, waits] : gathered.by_strategy) {
    if (durations.empty()) {
      durations = std::move(waits.durations);
    } else {
      durations.insert(durations.end(), waits.durations.begin(), waits.durations.end());
    }
    waits.durations = {};
  }
  stats.count = durations.size();
  stats.host_count = gathered.host_count;
  stats.groups = gathered.groups;
  stats.sms = gathered.sms.size();
  stats.total_ns = sum(durations);
  stats.p50_ns = percentile_in_place(durations, 50);
  stats.p99_ns = percentile_in_place(durations, 99);
  stats.max_ns = percentile_in_place(durations, 100);
  stats.any_waiting_ns = covered(std::move(gathered.waiting).with(gathered.host_waiting));
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
    stats.words_seen = gathered.words.size();
    for (const AtOnce& waiting : gathered.waiting_by_word) {
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

std::vector<SiteStats> site_stats(const TraceModel& model) { return site_stats(model, Waiters(model)); }

std::vector<SiteStats> site_stats(const TraceModel& model, const Waiters& waiters) {
  std::map<SiteId, Gathered> gathered = gather(model, waiters);
  std::vector<SiteStats> list;
  list.reserve(gathered.size());
  for (auto& [id, site] : gathered) list.push_back(stats_of(model, id, site));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

}  // namespace wicprof::analyzer
