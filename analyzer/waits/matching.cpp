#include "analyzer/waits/matching.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/measure/durations.h"
#include "protocol/bit_value.h"

namespace wicprof::analyzer {
namespace {

/// What identifies the signal of a wait. kAny: any value matches, for example because a host wait records no value.
struct Key {
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  SiteId site = 0;
  std::uint64_t value = kAny;
  std::uint64_t iteration = kAny;
  std::uint64_t word = kAny;  ///< the word's tag, or kUntagged
  static constexpr std::uint64_t kUntagged = 0;
  bool operator==(const Key&) const = default;

  /// Hashes of consecutive iterations differ in the lowest bits only, so that their slots share a cache line.
  std::size_t hash() const {
    constexpr int kNear = 3;
    const bool counted = iteration != kAny && value != kAny;
    std::uint64_t hash = site;
    for (const std::uint64_t part : {counted ? value - iteration : value, iteration >> kNear, word}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    }
    hash ^= hash >> 29;
    return static_cast<std::size_t>((hash << kNear) | (iteration & ((1u << kNear) - 1)));
  }
};

/// The tags of each site's words.
class WordSets {
 public:
  void add(SiteId site, WordTag word) {
    if (last_ == nullptr || site != last_site_) {
      last_ = &sites_[site];
      last_site_ = site;
    }
    last_->set(word);
  }
  const std::map<SiteId, std::bitset<65'536>>& sites() const { return sites_; }

 private:
  std::map<SiteId, std::bitset<65'536>> sites_;
  std::bitset<65'536>* last_ = nullptr;
  SiteId last_site_ = 0;
};

/// The sites at which waiters and producers see a word at the same address, so that its tag is the same for both: at
/// least half of the tags waited on are also signalled. By chance, a few per cent would be.
std::set<SiteId> tagged_sites(const TraceModel& model) {
  WordSets waited, signalled;
  for_each_wait(model, [&](const WaitView& wait) {
    if (wait.word && !wait.in_call) waited.add(wait.site, *wait.word);
  });
  for (const store::SignalRow& signal : model.signals) {
    if (signal.word && signal.writer == SignalWriter::program) signalled.add(signal.site, *signal.word);
  }
  std::set<SiteId> sites;
  for (const auto& [site, words] : waited.sites()) {
    const auto known = signalled.sites().find(site);
    const std::size_t both = known == signalled.sites().end() ? 0 : (words & known->second).count();
    if (2 * both >= words.count()) sites.insert(site);
  }
  return sites;
}

/// All signals grouped by some fields of their keys. Each group is in order of time.
class SignalGroups {
 public:
  /// `key_of(signal)`: empty for a signal that belongs to no group.
  template <class KeyOf>
  SignalGroups(const store::SignalList& signals, KeyOf key_of) : signals_(signals) {
    std::size_t capacity = 16;
    while (capacity < 2 * signals.size()) capacity *= 2;
    slots_.resize(capacity, kFree);
    std::vector<std::uint32_t> group_of(signals.size(), kFree);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const std::optional<Key> key = key_of(signals[i]);
      if (!key) continue;
      const std::size_t hash = key->hash();
      std::uint32_t& recent = recent_[hash % kRecent];
      if (recent == kFree || !(keys_[recent] == *key)) {
        std::uint32_t& slot = slots_[place_of(*key, hash)];
        if (slot == kFree) {
          slot = static_cast<std::uint32_t>(keys_.size());
          keys_.push_back(*key);
          begins_.push_back(0);
        }
        recent = slot;
      }
      ++begins_[recent];
      group_of[i] = recent;
    }
    // Turns the sizes of groups into their begins, then fills the groups.
    std::uint32_t total = 0;
    for (std::uint32_t& begin : begins_) total += std::exchange(begin, total);
    members_.resize(total);
    std::vector<std::uint32_t> next = begins_;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (group_of[i] != kFree) members_[next[group_of[i]]++] = static_cast<std::uint32_t>(i);
    }
    begins_.push_back(total);
  }

  /// The last signal with this key sent at or before `upto`.
  std::optional<std::uint32_t> last(const Key& key, TimeNs upto) {
    const std::uint32_t group = group_of(key);
    if (group == kFree) return std::nullopt;
    const auto begin = members_.begin() + begins_[group], end = members_.begin() + begins_[group + 1];
    const auto after =
        std::upper_bound(begin, end, upto, [&](TimeNs time, std::uint32_t i) { return time < signals_[i].at; });
    if (after == begin) return std::nullopt;
    return *std::prev(after);
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffu;
  static constexpr std::size_t kRecent = 64;

  /// Caches recent keys: many waiters wait for one signal at about the same time.
  std::uint32_t group_of(const Key& key) {
    const std::size_t hash = key.hash();
    std::uint32_t& recent = recent_[hash % kRecent];
    if (recent == kFree || !(keys_[recent] == key)) recent = slots_[place_of(key, hash)];
    return recent;
  }

  std::size_t place_of(const Key& key, std::size_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != kFree && !(keys_[slots_[at]] == key)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  const store::SignalList& signals_;
  std::vector<std::uint32_t> slots_;    // hash table of groups, or kFree; at most half full
  std::vector<Key> keys_;               // by group
  std::vector<std::uint32_t> begins_;   // by group: its begin in members_; then the end of the last group
  std::vector<std::uint32_t> members_;  // indexes of signals
  std::array<std::uint32_t, kRecent> recent_ = free_places();

  static constexpr std::array<std::uint32_t, kRecent> free_places() {
    std::array<std::uint32_t, kRecent> places{};
    places.fill(kFree);
    return places;
  }
};

/// Finds signals by key. Most traces need only one of the possible groupings, so each is built at its first use.
class SignalIndex {
 public:
  SignalIndex(const TraceModel& model, const std::set<SiteId>& tagged) : signals_(model.signals), tagged_(tagged) {}

  /// The last signal with this key sent at or before `upto`.
  std::optional<std::uint32_t> last(const Key& key, TimeNs upto) {
    const bool value = key.value != Key::kAny, iteration = key.iteration != Key::kAny, word = key.word != Key::kAny;
    std::optional<SignalGroups>& groups = groups_[(value ? 1 : 0) + (iteration ? 2 : 0) + (word ? 4 : 0)];
    if (!groups) {
      groups.emplace(signals_, [&](const store::SignalRow& signal) -> std::optional<Key> {
        if (signal.writer != SignalWriter::program) return std::nullopt;
        if (word && !is_tagged(signal.site)) return std::nullopt;
        const std::uint64_t tag = signal.word ? std::uint64_t{*signal.word} : Key::kUntagged;
        return Key{signal.site, value ? signal.value : Key::kAny, iteration ? signal.iteration : Key::kAny,
                   word ? tag : Key::kAny};
      });
    }
    return groups->last(key, upto);
  }

 private:
  bool is_tagged(SiteId site) const { return !tagged_.empty() && tagged_.contains(site); }

  const store::SignalList& signals_;
  const std::set<SiteId>& tagged_;
  std::array<std::optional<SignalGroups>, 8> groups_;
};

/// Copies and other writes of words that a program's own loops poll. They know no iteration and may have nothing to do
/// with a wait, so they count for waits of the very word that were in progress, and with the value that ended the wait.
class WrittenWords {
 public:
  explicit WrittenWords(const store::SignalList& signals) : signals_(signals) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (signals[i].writer == SignalWriter::program || !signals[i].word) continue;
      words_[{signals[i].site, *signals[i].word}].push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// The last write between the two times.
  std::optional<std::uint32_t> last(SiteId site, WordTag word, std::uint32_t value, TimeNs from, TimeNs upto) const {
    const auto known = words_.find({site, word});
    if (known == words_.end()) return std::nullopt;
    const std::vector<std::uint32_t>& writes = known->second;  // in order of time
    auto after = std::upper_bound(writes.begin(), writes.end(), upto,
                                  [&](TimeNs time, std::uint32_t i) { return time < signals_[i].at; });
    while (after != writes.begin()) {
      const store::SignalRow& signal = signals_[*--after];
      if (signal.at < from) break;
      if (signal.writer == SignalWriter::unknown_copy || signal.value == value) return *after;
    }
    return std::nullopt;
  }

 private:
  const store::SignalList& signals_;
  std::map<std::pair<SiteId, WordTag>, std::vector<std::uint32_t>> words_;
};

class Matcher {
 public:
  explicit Matcher(const TraceModel& model)
      : model_(model), tagged_(tagged_sites(model)), index_(model, tagged_), written_(model.signals), clocks_(model) {}

  Matching run() {
    edges_.reserve(model_.waits.size());
    for_each_wait(model_, [&](const WaitView& wait) {
      if (wait.in_call || wait.status != WaitStatus::satisfied) return;
      add(wait, keys_of(wait));
    });
    return {std::move(edges_), stats()};
  }

 private:
  struct Keys {
    std::array<Key, 5> list;
    std::size_t count = 0;
    void push_back(const Key& key) { list[count++] = key; }
    auto begin() const { return list.begin(); }
    auto end() const { return list.begin() + count; }
  };
  /// The value that the wait wanted identifies its signal; the value that it saw may belong to a later one, since the
  /// word may have moved on. Iteration numbers come last: a program may give other ones to waits than to signals.
  static Keys keys_of(const WaitView& wait) {
    Keys keys;
    if (!wait.host && is_bit_value(*wait.value)) {
      keys.push_back({wait.site, *wait.value, wait.iteration});  // others belong to other messages
      return keys;
    }
    if (wait.wanted) {
      keys.push_back({wait.site, *wait.wanted, wait.iteration});
      keys.push_back({wait.site, *wait.wanted, Key::kAny});
    }
    if (wait.value && wait.value != wait.wanted) {
      keys.push_back({wait.site, *wait.value, wait.iteration});
      keys.push_back({wait.site, *wait.value, Key::kAny});
    }
    keys.push_back({wait.site, Key::kAny, wait.iteration});
    return keys;
  }

  void add(const WaitView& wait, const Keys& keys) {
    SiteMatches& site = sites_[wait.site];
    // At sites with usable tags: signals of this word, or else signals without a tag.
    const bool tagged = wait.word && !tagged_.empty() && tagged_.contains(wait.site);
    std::optional<std::uint32_t> signal = tagged ? last_of_word(wait, keys) : last_of(wait, keys, Key::kAny);
    if (!signal && wait.word) {
      signal = written_.last(wait.site, *wait.word, wait.value.value_or(0), wait.begin - clocks_.slack(),
                             wait.end + clocks_.slack());
    }
    if (signal) {
      const store::SignalRow& sent = model_.signals[*signal];
      WakeEdge edge;
      edge.signal = *signal;
      edge.wait = wait.index;
      edge.host = wait.host;
      edges_.push_back(edge);
      const std::optional<TimeNs> error = clocks_.between(sent.device, wait.device);
      site.latencies.add(wake_latency(sent, wait));
      if (!error) site.error_known = false;
      site.error = std::max(site.error, error.value_or(0));
      return;
    }
    ++site.unmatched;
  }

  std::optional<std::uint32_t> last_of_word(const WaitView& wait, const Keys& keys) {
    const std::optional<std::uint32_t> signal = last_of(wait, keys, *wait.word);
    return signal ? signal : last_of(wait, keys, Key::kUntagged);
  }

  std::optional<std::uint32_t> last_of(const WaitView& wait, const Keys& keys, std::uint64_t word) {
    for (Key key : keys) {
      key.word = word;
      if (const auto signal = index_.last(key, wait.end + clocks_.slack())) return signal;
    }
    return std::nullopt;
  }

  std::vector<WakeStats> stats() {
    std::vector<WakeStats> list;
    for (auto& [id, site] : sites_) {
      WakeStats stats;
      stats.site = id;
      stats.matched = site.latencies.size();
      stats.unmatched = site.unmatched;
      const TypicalLengths typical = site.latencies.typical();
      stats.p50_ns = typical.p50;
      stats.p99_ns = typical.p99;
      if (site.error_known && stats.matched > 0) stats.error_ns = site.error;
      list.push_back(stats);
    }
    return list;
  }

  struct SiteMatches {
    Durations latencies;
    std::uint64_t unmatched = 0;
    TimeNs error = 0;
    bool error_known = true;
  };

  const TraceModel& model_;
  std::set<SiteId> tagged_;
  SignalIndex index_;
  WrittenWords written_;
  ClockErrors clocks_;
  std::vector<WakeEdge> edges_;
  std::map<SiteId, SiteMatches> sites_;
};

}  // namespace

ClockErrors::ClockErrors(const TraceModel& model) {
  errors_[kHostDevice] = 0;
  for (const store::DeviceRow& device : model.devices) {
    if (device.id != kHostDevice) errors_[device.id] = device.clock_error_ns;
    if (device.clock_error_ns) worst_ = std::max(worst_, *device.clock_error_ns);
  }
}

std::optional<TimeNs> ClockErrors::between(DeviceId a, DeviceId b) const {
  if (a == b) return 0;
  const auto of_a = errors_.find(a), of_b = errors_.find(b);
  if (of_a == errors_.end() || of_b == errors_.end() || !of_a->second || !of_b->second) return std::nullopt;
  return *of_a->second + *of_b->second;
}

TimeNs wake_latency(const TraceModel& model, const WakeEdge& edge) {
  return wake_latency(model.signals[edge.signal], view_of(model, edge));
}

Matching match(const TraceModel& model) { return Matcher(model).run(); }

}  // namespace wicprof::analyzer
