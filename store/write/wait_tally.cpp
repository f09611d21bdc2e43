#include "store/write/wait_tally.h"

#include <algorithm>
#include <utility>

#include "store/format/plausible_times.h"

namespace wicprof::store {

namespace {

/// Nothing for times that no recording has: 0 where one could not be taken, or records that the program overwrote.
std::optional<std::uint64_t> length(std::uint64_t begin, std::uint64_t end) {
  if (begin == 0 || end < begin || end - begin > static_cast<std::uint64_t>(kMaxDistance)) return std::nullopt;
  return end - begin;
}

/// Damaged numbers are one way of waiting.
StrategyId known_strategy(std::uint8_t number) {
  constexpr StrategyId kNone{254};
  const StrategyId strategy{number};
  return strategy_name(strategy) == strategy_name(kNone) ? kNone : strategy;
}

}  // namespace

void WaitSum::add(const WaitSum& other) {
  waits += other.waits;
  waiting_ns += other.waiting_ns;
  if (other.cpu_ns) cpu_ns = cpu_ns.value_or(0) + *other.cpu_ns;
  wakes += other.wakes;
  wake_ns += other.wake_ns;
}

WaitTally::Site* WaitTally::site_of(SiteId id) {
  if (id == 0) return nullptr;
  const auto known = sites_.find(id);
  if (known != sites_.end()) return &known->second;
  return sites_.size() < kMaxKnown ? &sites_[id] : nullptr;
}

WaitTally::Sums& WaitTally::sums_named(const std::string& name) {
  if (name == kOther) return other_;
  if (name == kUnnamed) return unnamed_;
  return named_.contains(name) || named_.size() < kMaxSites ? named_[name] : other_;
}

void WaitTally::label(Site& site, Sums& sums) {
  site.sums = &sums;
  for (const auto& [way, sum] : site.without_label) sums[way].add(sum);
  site.without_label.clear();
}

void WaitTally::name_site(SiteId id, const std::string& name) {
  Site* const site = name.empty() ? nullptr : site_of(id);
  if (site == nullptr || site->name == name) return;
  site->name = name;
  site->sums = nullptr;  // the next wait finds them, so that only sites with waits take a name
  if (!site->without_label.empty()) label(*site, sums_named(name));
}

void WaitTally::add(SiteId id, Way way, const WaitSum& wait) {
  Site* const site = site_of(id);
  if (site == nullptr) {
    (id == 0 ? unnamed_ : other_)[way].add(wait);
    return;
  }
  if (site->sums == nullptr && !site->name.empty()) label(*site, sums_named(site->name));
  if (site->sums == nullptr && site->without_label.empty()) site->since = now_ns();
  (site->sums != nullptr ? *site->sums : site->without_label)[way].add(wait);
}

void WaitTally::add(SiteId site, const WaitEvent& wait) {
  const std::optional<std::uint64_t> waiting = length(wait.arrived_ns, wait.resumed_ns);
  if (waiting) add(site, {WaitSide::device, known_strategy(wait.strategy)}, {1, *waiting});
}

WaitTally::Woken& WaitTally::woken(const Word& word) {
  const auto [at, added] = words_.try_emplace(word);
  if (added) order_.push_back(word);
  if (order_.size() > kMostWords) {
    words_.erase(order_.front());
    order_.pop_front();
  }
  return at->second;
}

void WaitTally::add_wake(SiteId site, const Resumed& wait, TimeNs signal) {
  if (signal > wait.resumed) return;
  WaitSum sum;
  sum.wakes = 1;
  sum.wake_ns = positive(wait.resumed - std::max(signal, wait.arrived));
  add(site, {WaitSide::device, wait.strategy}, sum);
}

void WaitTally::wakes(SiteId site, const WaitEvent& event, TimeNs arrived, TimeNs resumed) {
  if (event.iteration == 0 || event.waited == 0 || event.status != WaitStatus::satisfied) return;
  if (arrived <= 0 || arrived > resumed || resumed - arrived > kMaxDistance) return;
  Woken& word = woken({site, event.iteration, event.word_tag, event.value});
  const Resumed wait{known_strategy(event.strategy), arrived, resumed};
  if (word.signal) return add_wake(site, wait, *word.signal);
  if (word.unsignalled.size() < kMostOfWord) word.unsignalled.push_back(wait);
}

void WaitTally::signals(SiteId site, const SignalEvent& signal, TimeNs at) {
  if (signal.iteration == 0) return;
  Woken& word = woken({site, signal.iteration, signal.word_tag, signal.value});
  word.signal = at;
  for (const Resumed& wait : std::exchange(word.unsignalled, {})) add_wake(site, wait, at);
}

void WaitTally::add(SiteId site, const HostWaitEvent& wait) {
  const std::optional<std::uint64_t> waiting = length(positive(wait.begin_ns), positive(wait.end_ns));
  if (!waiting) return;
  WaitSum sum{1, *waiting};
  if (wait.cpu_ns >= 0 && wait.cpu_ns <= kMaxDistance) sum.cpu_ns = positive(wait.cpu_ns);
  add(site, {WaitSide::host, known_strategy(wait.strategy)}, sum);
}

void WaitTally::add(const InterventionEvent& change) {
  // Each part of each process reports the change under one number.
  if (change.sequence <= last_change_ || change.new_mode >= changes_.size()) return;
  last_change_ = change.sequence;
  ++changes_[change.new_mode];
}

std::vector<WaitSumOfSite> WaitTally::waits(TimeNs now) {
  for (auto& [id, site] : sites_) {
    if (!site.without_label.empty() && now - site.since > kNamingTime) label(site, unnamed_);
  }
  std::vector<WaitSumOfSite> all;
  const auto list = [&](const std::string& name, const Sums& sums) {
    for (const auto& [way, sum] : sums) all.push_back({name, way.first, way.second, sum});
  };
  for (const auto& [name, sums] : named_) list(name, sums);
  list(kOther, other_);
  list(kUnnamed, unnamed_);
  return all;
}

}  // namespace wicprof::store
