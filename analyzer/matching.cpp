#include "analyzer/matching.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/statistics.h"

namespace wicprof::analyzer {
namespace {

/// What a waiter saw, from most to least telling. kAny stands for what was not recorded (a host wait has no value).
struct Key {
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  SiteId site = 0;
  std::uint64_t value = kAny;
  std::uint64_t iteration = kAny;
  std::uint64_t word = kAny;  ///< the word's tag, or kUntagged
  static constexpr std::uint64_t kUntagged = 0;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.site;
    for (const std::uint64_t part : {key.value, key.iteration, key.word}) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(hash ^ (hash >> 29));
  }
};

/// The sites at which a word's tag means the same to waiters and producers, since both see the word at one address: at
/// least half of the words that are waited on are signalled, too. By chance, a few in a hundred would be.
std::set<SiteId> tagged_sites(const TraceModel& model) {
  std::set<std::pair<SiteId, WordTag>> waited, signalled;
  for (const store::WaitRow& wait : model.waits) {
    if (wait.word) waited.emplace(wait.site, *wait.word);
  }
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.word && wait.site != 0) waited.emplace(wait.site, *wait.word);
  }
  for (const store::SignalRow& signal : model.signals) {
    if (signal.word) signalled.emplace(signal.site, *signal.word);
  }
  std::map<SiteId, std::pair<std::size_t, std::size_t>> counts;  // words, and those of them that are signalled
  for (const auto& word : waited) {
    auto& [words, known] = counts[word.first];
    ++words;
    if (signalled.contains(word)) ++known;
  }
  std::set<SiteId> sites;
  for (const auto& [site, count] : counts) {
    if (2 * count.second >= count.first) sites.insert(site);
  }
  return sites;
}

/// Signals by what they announce; each list is in order of time.
class SignalIndex {
 public:
  SignalIndex(const TraceModel& model, const std::set<SiteId>& tagged) : signals_(model.signals) {
    for (std::size_t i = 0; i < signals_.size(); ++i) {
      const store::SignalRow& signal = signals_[i];
      add(i, Key::kAny);
      if (tagged.contains(signal.site)) add(i, signal.word ? std::uint64_t{*signal.word} : Key::kUntagged);
    }
  }

  /// The last signal of that key that was sent by `upto`.
  std::optional<std::size_t> last(const Key& key, TimeNs upto) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    const std::vector<std::size_t>& list = found->second;
    const auto after = std::upper_bound(list.begin(), list.end(), upto,
                                        [&](TimeNs time, std::size_t i) { return time < signals_[i].at; });
    if (after == list.begin()) return std::nullopt;
    return *std::prev(after);
  }

 private:
  void add(std::size_t i, std::uint64_t word) {
    const store::SignalRow& signal = signals_[i];
    by_key_[{signal.site, signal.value, signal.iteration, word}].push_back(i);
    by_key_[{signal.site, signal.value, Key::kAny, word}].push_back(i);
    by_key_[{signal.site, Key::kAny, signal.iteration, word}].push_back(i);
  }

  const std::vector<store::SignalRow>& signals_;
  std::unordered_map<Key, std::vector<std::size_t>, KeyHash> by_key_;
};

/// Error bounds of the devices' clocks; the host's clock is the reference.
class Clocks {
 public:
  explicit Clocks(const TraceModel& model) {
    errors_[kHostDevice] = 0;
    for (const store::DeviceRow& device : model.devices) {
      if (device.id != kHostDevice) errors_[device.id] = device.clock_error_ns;
      if (device.clock_error_ns) worst_ = std::max(worst_, *device.clock_error_ns);
    }
  }

  std::optional<TimeNs> error_between(DeviceId a, DeviceId b) const {
    if (a == b) return 0;
    const std::optional<TimeNs> error_a = error_of(a);
    const std::optional<TimeNs> error_b = error_of(b);
    if (!error_a || !error_b) return std::nullopt;
    return *error_a + *error_b;
  }

  /// How much later than the resumption a signal may seem to have been sent.
  TimeNs slack() const { return 2 * worst_; }

 private:
  std::optional<TimeNs> error_of(DeviceId id) const {
    const auto found = errors_.find(id);
    return found == errors_.end() ? std::nullopt : found->second;
  }

  std::map<DeviceId, std::optional<TimeNs>> errors_;
  TimeNs worst_ = 0;
};

class Matcher {
 public:
  explicit Matcher(const TraceModel& model)
      : model_(model), tagged_(tagged_sites(model)), index_(model, tagged_), clocks_(model) {}

  Matching run() {
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const store::WaitRow& wait = model_.waits[i];
      if (wait.status != WaitStatus::satisfied) continue;
      add({i, false, wait.site, wait.device, wait.arrived, wait.resumed, wait.word}, {{wait.site, wait.value, wait.iteration},
                                                                           {wait.site, wait.value, Key::kAny},
                                                                           {wait.site, Key::kAny, wait.iteration}});
    }
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) {
      const store::HostWaitRow& wait = model_.host_waits[i];
      if (wait.site == 0 || wait.status != WaitStatus::satisfied) continue;
      add({i, true, wait.site, kHostDevice, wait.begin, wait.end, wait.word}, {{wait.site, Key::kAny, wait.iteration}});
    }
    return {std::move(edges_), stats()};
  }

 private:
  struct Waiting {
    std::size_t index;
    bool host;
    SiteId site;
    DeviceId device;
    TimeNs arrived, resumed;
    std::optional<WordTag> word;
  };

  void add(const Waiting& wait, std::initializer_list<Key> keys) {
    PerSite& site = sites_[wait.site];
    // Where tags tell words apart: signals of this word, and if there are none those of which the word is not known.
    const bool tagged = wait.word && tagged_.contains(wait.site);
    const std::optional<std::size_t> signal = tagged ? last_of_word(wait, keys) : last_of(wait, keys, Key::kAny);
    if (signal) {
      const store::SignalRow& sent = model_.signals[*signal];
      WakeEdge edge;
      edge.signal = *signal;
      edge.wait = wait.index;
      edge.host = wait.host;
      edge.latency_ns = wait.resumed - std::max(sent.at, wait.arrived);
      edge.error_ns = clocks_.error_between(sent.device, wait.device);
      edges_.push_back(edge);
      site.latencies.push_back(edge.latency_ns);
      if (!edge.error_ns) site.error_known = false;
      site.error = std::max(site.error, edge.error_ns.value_or(0));
      return;
    }
    ++site.unmatched;
  }

  std::optional<std::size_t> last_of_word(const Waiting& wait, std::initializer_list<Key> keys) const {
    const std::optional<std::size_t> signal = last_of(wait, keys, *wait.word);
    return signal ? signal : last_of(wait, keys, Key::kUntagged);
  }

  std::optional<std::size_t> last_of(const Waiting& wait, std::initializer_list<Key> keys, std::uint64_t word) const {
    for (Key key : keys) {
      key.word = word;
      if (const auto signal = index_.last(key, wait.resumed + clocks_.slack())) return signal;
    }
    return std::nullopt;
  }

  std::vector<WakeStats> stats() const {
    std::vector<WakeStats> list;
    for (const auto& [id, site] : sites_) {
      WakeStats stats;
      stats.site = id;
      stats.matched = site.latencies.size();
      stats.unmatched = site.unmatched;
      stats.p50_ns = percentile(site.latencies, 50);
      stats.p99_ns = percentile(site.latencies, 99);
      if (site.error_known && stats.matched > 0) stats.error_ns = site.error;
      list.push_back(stats);
    }
    return list;
  }

  struct PerSite {
    std::vector<TimeNs> latencies;
    std::uint64_t unmatched = 0;
    TimeNs error = 0;
    bool error_known = true;
  };

  const TraceModel& model_;
  std::set<SiteId> tagged_;
  SignalIndex index_;
  Clocks clocks_;
  std::vector<WakeEdge> edges_;
  std::map<SiteId, PerSite> sites_;
};

}  // namespace

Matching match(const TraceModel& model) { return Matcher(model).run(); }

}  // namespace wicprof::analyzer
