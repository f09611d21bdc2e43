#include "src/strategy/site_census.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "wic/record.h"
#include "wic/strategies/strategy.h"

namespace wic {

using wicprof::SiteId;
using wicprof::StrategyId;
using wicprof::TimeNs;

namespace {

// A moment lasts some 16 us: long enough to keep all waiters released by one store or none of them, short enough to
// thin out a window of short waits evenly.
constexpr std::uint32_t kMomentBits = 14;

// The duration of one look in such a wait, if it can be derived. Leaders sleep between looks in longer waits: then it
// can be derived only where the looks took much longer than the sleeps.
std::optional<TimeNs> look_of(StrategyId strategy, TimeNs length, std::uint32_t polls) {
  constexpr TimeNs kMaxSleepNs = 2 * kMaxNapNs;  // a sleep lasts up to twice as long as requested
  if (polls < 2) return std::nullopt;
  const TimeNs turn = length / polls;
  switch (strategy) {
    case StrategyId::poll:
      return turn;
    case StrategyId::leader_bar_sync:
    case StrategyId::leader_mbarrier:
    case StrategyId::leader_mbarrier_hint:
      if (length < static_cast<TimeNs>(kAwakeNs)) return turn;
      if (turn > 2 * kMaxSleepNs) return turn - kMaxSleepNs;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

template <class Number>
Number median(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Counts overlapping intervals; one that ends when another begins does not overlap it.
class Overlap {
 public:
  void add(std::uint64_t from, std::uint64_t to) {
    edges_.emplace_back(from, +1);
    edges_.emplace_back(std::max(to, from + 1), -1);
  }
  std::uint32_t most() {
    std::sort(edges_.begin(), edges_.end());
    std::int64_t now = 0, most = 0;
    for (const auto& [at, step] : edges_) most = std::max(most, now += step);
    return static_cast<std::uint32_t>(most);
  }

 private:
  std::vector<std::pair<std::uint64_t, int>> edges_;
};

}  // namespace

SiteCensus::SiteCensus() : sites_(wicprof::kMaxSites) {}

void SiteCensus::add(const wicprof::WaitEvent& wait, TimeNs now_ns) {
  if (wait.site == 0 || wait.site >= sites_.size() || wait.status != wicprof::WaitStatus::satisfied) return;
  Window& window = sites_[wait.site];
  const auto strategy = static_cast<StrategyId>(wait.strategy);
  if (window.waits.empty() || strategy != window.strategy) {
    restart(wait.site);
    window.begin = now_ns;
    window.strategy = strategy;
  }
  if (!in_sample(wait.resumed_ns >> kMomentBits, window.sample_mask)) return;
  window.waits.push_back({wait.arrived_ns, std::max(wait.arrived_ns, wait.resumed_ns), wait.polls, wait.device,
                          wait.word_tag, wait.warps, wait.each_thread != 0, wait.waited != 0});
  if (window.waits.size() > kMaxKeptWaits) thin_out(window);
}

// Keeps half of the moments; if all waits are of one moment, keeps the first half of them.
void SiteCensus::thin_out(Window& window) {
  window.sample_mask = window.sample_mask * 2 + 1;
  std::erase_if(window.waits, [&](const Wait& w) { return !in_sample(w.resumed >> kMomentBits, window.sample_mask); });
  if (window.waits.size() > kMaxKeptWaits) window.waits.resize(kMaxKeptWaits / 2);
}

std::optional<SiteObservation> SiteCensus::take(SiteId site, TimeNs now_ns) {
  Window& window = sites_[site];
  if (window.waits.size() < kFewestWaits || now_ns - window.begin < kShortestWindow) return std::nullopt;
  const SiteObservation seen = observe(window);
  restart(site);
  return seen;
}

void SiteCensus::restart(SiteId site) {
  Window& window = sites_[site];
  window.waits.clear();
  window.sample_mask = 0;
}

SiteObservation SiteCensus::observe(Window& window) {
  SiteObservation seen;
  seen.strategy = window.strategy;
  seen.waits = static_cast<std::uint32_t>(window.waits.size());
  std::map<std::pair<wicprof::DeviceId, wicprof::WordTag>, Overlap> on_word;
  std::map<wicprof::DeviceId, Overlap> on_device;
  std::set<wicprof::WordTag> words;
  std::vector<TimeNs> lengths, looks;
  std::vector<std::uint8_t> warps;
  std::uint32_t each_thread = 0;
  for (const Wait& wait : window.waits) {
    on_device[wait.device].add(wait.arrived, wait.resumed);
    on_word[{wait.device, wait.word}].add(wait.arrived, wait.resumed);
    words.insert(wait.word);
    const auto length = static_cast<TimeNs>(wait.resumed - wait.arrived);
    lengths.push_back(wait.waited ? length : 0);
    if (const auto look = look_of(window.strategy, length, wait.polls)) looks.push_back(*look);
    warps.push_back(wait.warps);
    each_thread += wait.each_thread ? 1 : 0;
  }
  for (auto& [device, overlap] : on_device) seen.waiters = std::max(seen.waiters, overlap.most());
  if (!words.contains(0)) {
    seen.words = static_cast<std::uint32_t>(words.size());
    for (auto& [word, overlap] : on_word) seen.waiters_per_word = std::max(seen.waiters_per_word, overlap.most());
  }
  seen.each_thread = 2 * each_thread > seen.waits;
  seen.warps = median(warps);
  seen.median_ns = median(lengths);
  if (!looks.empty()) window.look_ns = median(looks);
  seen.look_ns = window.look_ns;
  return seen;
}

}  // namespace wic
