#include "analyzer/waits/sites.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "analyzer/measure/durations.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/waits/iterations.h"
#include "store/summaries/lanes.h"

namespace wicprof::analyzer {
namespace {

/// Counts the largest number of intervals that overlap at one time. Add intervals in order of begin. An empty interval
/// counts as 1 ns long.
class ConcurrencyCounter {
 public:
  void add(const Interval& interval) {
    while (!ends_.empty() && ends_.top() <= interval.begin) ends_.pop();
    ends_.push(std::max(interval.end, interval.begin + 1));
    max_ = std::max(max_, ends_.size());
  }
  std::uint32_t max() const { return static_cast<std::uint32_t>(max_); }

 private:
  std::priority_queue<TimeNs, std::vector<TimeNs>, std::greater<>> ends_;
  std::size_t max_ = 0;
};

/// The union of intervals. Add intervals in order of begin.
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

/// The waits inside kernels under one strategy.
struct StrategyWaits {
  Durations durations;
  std::uint64_t polls = 0;
};

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();

/// What a pass over the waits collects per site.
struct Gathered {
  Durations host_durations;
  Union waiting, host_waiting;
  TimeNs within = 0;  // sum over the waiters of the time within the ground in which each waited
  ConcurrencyCounter waiting_in_kernel, polling;
  std::map<StrategyId, StrategyWaits> by_strategy;  // waits inside kernels
  std::vector<TimeNs> waited_until;                 // by waiter number; kNever: it did not wait here
  std::uint64_t groups = 0;                         // number of waiters that waited here
  FlatIndex sms, words;
  FlatIndex device_words;
  std::vector<ConcurrencyCounter> waiting_by_word;  // waits inside kernels, by device and word
  bool words_known = true;
  std::uint64_t polls = 0;
  std::uint64_t waits_with_polls = 0;
  std::uint64_t deadline_missed = 0;
  std::uint64_t host_count = 0;
  Interval longest;

  /// Waits come in order of begin. Where each thread of a group has a wait of its own, the group waits while any of
  /// them does.
  void add_waiter(std::uint32_t waiter, const Interval& within_ground) {
    if (waited_until.size() <= waiter) waited_until.resize(waiter + 1, kNever);
    TimeNs& until = waited_until[waiter];
    if (until == kNever) ++groups;
    within += std::max<TimeNs>(0, within_ground.end - std::max(within_ground.begin, until));
    until = std::max(until, within_ground.end);
  }
  void add_word(const std::optional<WordTag>& word) {
    if (word) {
      words.number(*word);
    } else {
      words_known = false;
    }
  }
};

/// Combines a device (-1 to some thousands) and a number of 48 bits.
std::uint64_t device_key(DeviceId device, std::uint64_t what) {
  return (static_cast<std::uint64_t>(static_cast<std::uint16_t>(device)) << 48) | what;
}

Interval clipped(Interval interval, Interval to) {
  const TimeNs begin = std::clamp(interval.begin, to.begin, to.end);
  return {begin, std::clamp(interval.end, begin, to.end)};
}

std::map<SiteId, Gathered> gather(const TraceModel& model, const Waiters& waiters, Interval ground) {
  std::map<SiteId, Gathered> all;
  for_each_wait(model, [&](const WaitView& wait) {
    if (!waiters.counts(wait)) return;
    Gathered& site = all[wait.site];
    const Interval waiting{wait.begin, wait.begin + wait.took()};
    if (waiting.end - waiting.begin > site.longest.end - site.longest.begin) site.longest = waiting;
    site.add_waiter(waiters.of(wait), clipped(waiting, ground));
    site.add_word(wait.word);
    if (wait.polls) {
      site.polls += *wait.polls;
      ++site.waits_with_polls;
    }
    if (wait.status == WaitStatus::deadline_passed) ++site.deadline_missed;
    if (wait.host) {
      site.host_durations.add(wait.took());
      site.host_waiting.add(waiting);
      ++site.host_count;
      return;
    }
    site.waiting.add(waiting);
    site.waiting_in_kernel.add(waiting);
    if (every_waiter_polls(wait.strategy)) site.polling.add(waiting);
    StrategyWaits& strategy = site.by_strategy[wait.strategy];
    strategy.durations.add(wait.took());
    strategy.polls += *wait.polls;
    site.sms.number(device_key(wait.device, wait.sm));
    if (wait.word) {
      const std::uint32_t word = site.device_words.number(device_key(wait.device, *wait.word));
      if (word == site.waiting_by_word.size()) site.waiting_by_word.emplace_back();
      site.waiting_by_word[word].add(waiting);
    }
  });
  return all;
}

std::vector<StrategyStats> strategy_stats(Gathered& gathered) {
  std::vector<StrategyStats> list;
  for (auto& [strategy, waits] : gathered.by_strategy) {
    StrategyStats stats;
    stats.strategy = strategy;
    stats.count = waits.durations.size();
    stats.total_ns = waits.durations.sum();
    const TypicalLengths typical = waits.durations.typical();
    stats.p50_ns = typical.p50;
    stats.p99_ns = typical.p99;
    stats.polls = waits.polls;
    stats.polls_per_wait = static_cast<double>(stats.polls) / static_cast<double>(stats.count);
    list.push_back(stats);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

/// The memory of the words that patched loops of the site have polled, if all are in the same kind.
WordMemory polled_memory(const TraceModel& model, SiteId site) {
  WordMemory memory = WordMemory::unknown;
  for (const store::PolledWordRow& word : model.polled_words) {
    if (word.site != site || word.memory == WordMemory::unknown) continue;
    if (memory != WordMemory::unknown && memory != word.memory) return WordMemory::unknown;
    memory = word.memory;
  }
  return memory;
}

SiteStats stats_of(const TraceModel& model, SiteId id, Gathered& gathered, Interval ground) {
  SiteStats stats;
  stats.site = id;
  stats.name = model.site_name(id);
  if (const store::SiteRow* row = model.site(id)) {
    stats.word_memory = row->word_memory != WordMemory::unknown ? row->word_memory : polled_memory(model, id);
    stats.pollers = row->pollers;
    stats.words = row->words;
    stats.declared = true;
  }
  stats.strategies = strategy_stats(gathered);
  std::vector<const Durations*> durations{&gathered.host_durations};
  for (const auto& [strategy, waits] : gathered.by_strategy) durations.push_back(&waits.durations);
  for (const Durations* part : durations) {
    stats.count += part->size();
    stats.total_ns += part->sum();
  }
  stats.host_count = gathered.host_count;
  stats.groups = gathered.groups;
  stats.sms = gathered.sms.size();
  const TypicalLengths typical = Durations::typical(durations);
  stats.p50_ns = typical.p50;
  stats.p99_ns = typical.p99;
  stats.max_ns = typical.max;
  stats.longest = gathered.longest;
  std::vector<Interval> waiting = std::move(gathered.waiting).with(gathered.host_waiting);
  stats.any_waiting_ns = covered(waiting);
  if (ground.end > ground.begin) {
    const auto span = static_cast<double>(ground.end - ground.begin);
    for (Interval& each : waiting) each = clipped(each, ground);
    stats.share = static_cast<double>(gathered.within) / (static_cast<double>(stats.groups) * span);
    stats.any_share = static_cast<double>(covered(std::move(waiting))) / span;
  }
  stats.polls = gathered.polls;
  if (gathered.waits_with_polls > 0) {
    stats.polls_per_wait = static_cast<double>(gathered.polls) / static_cast<double>(gathered.waits_with_polls);
  }
  stats.deadline_missed = gathered.deadline_missed;
  stats.max_waiting = gathered.waiting_in_kernel.max();
  stats.max_polling = gathered.polling.max();
  if (gathered.words_known) {
    stats.words_seen = gathered.words.size();
    for (const ConcurrencyCounter& on_word : gathered.waiting_by_word) {
      stats.waiters_per_word = std::max(stats.waiters_per_word.value_or(0), on_word.max());
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
  const Waiters waiters(model);
  const Interval whole{model.begin, model.end};
  return site_stats(model, waiters, iteration_window(model, find_iterations(model, waiters)).value_or(whole));
}

std::vector<SiteStats> site_stats(const TraceModel& model, const Waiters& waiters, Interval ground) {
  std::map<SiteId, Gathered> gathered = gather(model, waiters, ground);
  std::vector<SiteStats> list;
  list.reserve(gathered.size());
  for (auto& [id, site] : gathered) list.push_back(stats_of(model, id, site, ground));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return list;
}

}  // namespace wicprof::analyzer
