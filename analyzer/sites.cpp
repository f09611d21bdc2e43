#include "analyzer/sites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/flat_index.h"
#include "analyzer/statistics.h"
#include "analyzer/step_count.h"

namespace wicprof::analyzer {
namespace {

/// What one pass over the waits collects for a site.
struct Gathered {
  std::vector<TimeNs> durations;
  std::vector<Interval> waiting;  // all waits
  std::vector<Interval> waiting_in_kernel;
  std::vector<Interval> polling;
  std::array<std::vector<TimeNs>, 256> by_strategy;
  std::array<std::uint64_t, 256> polls_by_strategy{};
  FlatIndex waiters, sms;
  std::map<std::pair<DeviceId, WordTag>, std::vector<Interval>> waiting_by_word;  // in kernels
  std::pair<DeviceId, WordTag> last_word{};  // neighbours mostly share one
  std::vector<Interval>* waiting_on_it = nullptr;
  FlatIndex words;
  bool words_known = true;
  std::uint64_t polls = 0;
  std::uint64_t waits_with_polls = 0;
  std::uint64_t deadline_missed = 0;
  std::uint64_t host_count = 0;
};

std::uint64_t waiter_key(DeviceId device, std::uint32_t block, std::uint32_t warp) {
  return (std::uint64_t{static_cast<std::uint16_t>(device)} << 48) | (std::uint64_t{block} << 16) | (warp & 0xffffu);
}

/// A wait's length. Clock errors may turn a very short wait around; it then has none.
TimeNs length(TimeNs from, TimeNs to) { return std::max<TimeNs>(0, to - from); }

void add_word(Gathered& site, const std::optional<WordTag>& word) {
  if (word) {
    site.words.number(*word);
  } else {
    site.words_known = false;
  }
}

std::map<SiteId, Gathered> gather(const TraceModel& model) {
  std::map<SiteId, Gathered> all;
  SiteId last_id = 0;
  Gathered* last = nullptr;
  for (const store::WaitRow& wait : model.waits) {
    if (last == nullptr || wait.site != last_id) {
      last = &all[wait.site];
      last_id = wait.site;
    }
    Gathered& site = *last;
    const TimeNs took = length(wait.arrived, wait.resumed);
    site.durations.push_back(took);
    site.waiting.push_back({wait.arrived, wait.arrived + took});
    site.waiting_in_kernel.push_back(site.waiting.back());
    if (every_waiter_polls(wait.strategy)) site.polling.push_back(site.waiting.back());
    const auto strategy = static_cast<std::uint8_t>(wait.strategy);
    site.by_strategy[strategy].push_back(took);
    site.polls_by_strategy[strategy] += wait.polls;
    site.waiters.number(waiter_key(wait.device, wait.block, wait.warp));
    site.sms.number(waiter_key(wait.device, wait.sm, 0));
    if (wait.word) {
      const std::pair word{wait.device, *wait.word};
      if (site.waiting_on_it == nullptr || word != site.last_word) {
        site.waiting_on_it = &site.waiting_by_word[word];
        site.last_word = word;
      }
      site.waiting_on_it->push_back(site.waiting.back());
    }
    add_word(site, wait.word);
    site.polls += wait.polls;
    ++site.waits_with_polls;
    if (wait.status == WaitStatus::deadline_passed) ++site.deadline_missed;
  }
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site == 0) continue;
    Gathered& site = all[wait.site];
    const TimeNs took = length(wait.begin, wait.end);
    site.durations.push_back(took);
    site.waiting.push_back({wait.begin, wait.begin + took});
    site.waiters.number(waiter_key(kHostDevice, wait.thread, 0));
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

/// The nearest-rank percentile of sorted values, as percentile() has it.
TimeNs of_sorted(const std::vector<TimeNs>& values, double percent) {
  if (values.empty()) return 0;
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(values.size()))) - 1];
}

std::vector<StrategyStats> strategy_stats(Gathered& gathered) {
  std::vector<StrategyStats> list;
  for (std::size_t strategy = 0; strategy < gathered.by_strategy.size(); ++strategy) {
    std::vector<TimeNs>& durations = gathered.by_strategy[strategy];
    if (durations.empty()) continue;
    sort_times(durations);
    StrategyStats stats;
    stats.strategy = static_cast<StrategyId>(strategy);
    stats.count = durations.size();
    stats.total_ns = sum(durations);
    stats.p50_ns = of_sorted(durations, 50);
    stats.p99_ns = of_sorted(durations, 99);
    stats.polls = gathered.polls_by_strategy[strategy];
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
  stats.count = gathered.durations.size();
  stats.host_count = gathered.host_count;
  stats.groups = gathered.waiters.size();
  stats.sms = static_cast<std::uint32_t>(gathered.sms.size());
  stats.total_ns = sum(gathered.durations);
  sort_times(gathered.durations);
  stats.p50_ns = of_sorted(gathered.durations, 50);
  stats.p99_ns = of_sorted(gathered.durations, 99);
  stats.max_ns = of_sorted(gathered.durations, 100);
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
  stats.strategies = strategy_stats(gathered);
  stats.deadline_missed = gathered.deadline_missed;
  stats.max_waiting = max_at_once(gathered.waiting_in_kernel);
  stats.max_polling = max_at_once(gathered.polling);
  if (gathered.words_known) {
    stats.words_seen = static_cast<std::uint32_t>(gathered.words.size());
    for (const auto& [word, waiting] : gathered.waiting_by_word) {
      stats.waiters_a_word = std::max(stats.waiters_a_word.value_or(0), max_at_once(waiting));
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

bool every_waiter_polls(StrategyId strategy) {
  // predicted_sleep polls only at its end; measured on an H200 it costs other work nothing even on a host word.
  return strategy == StrategyId::poll || strategy == StrategyId::backoff;
}

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
