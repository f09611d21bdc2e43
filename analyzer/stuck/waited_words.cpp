#include "analyzer/stuck/waited_words.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

class Collection {
 public:
  explicit Collection(const StuckView& view) : view_(view) {}

  WaitedWords run() {
    for (const auto& [process, wait] : view_.waits) add_wait(process, wait);
    for (std::size_t i = 0; i < view_.calls.size(); ++i) {
      const auto& [process, call] = view_.calls[i];
      if (call.waits_for_word == 0 || view_.now - call.begin < kLongAfter) continue;
      add_call(process, call, i < view_.call_values.size() ? view_.call_values[i] : std::nullopt);
    }
    for (WaitedWord& word : all_.words) {
      for (auto* list : {&word.blocks, &word.threads}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
    for (std::size_t i = 0; i < all_.size(); ++i) find_writers(i);
    return std::move(all_);
  }

 private:
  using WordKey = std::tuple<std::uint32_t, DeviceId, std::string, std::uint64_t, std::optional<std::uint32_t>>;

  /// What is known of a word while waits are read.
  struct Reading {
    std::optional<WordTag> tag;
    TimeNs seen = 0;  ///< when its value was reported last
  };

  std::size_t word_at(const WordKey& key, TimeNs since) {
    const auto [at, added] = known_.try_emplace(key, all_.size());
    if (added) {
      WaitedWord& word = all_.words.emplace_back();
      word.processes = {std::get<0>(key)};
      word.device = std::get<1>(key);
      word.site = std::get<2>(key);
      word.address = std::get<3>(key);
      word.wanted = std::get<4>(key);
      word.since = since;
      all_.parties.emplace_back();
      readings_.emplace_back();
    }
    WaitedWord& word = all_.words[at->second];
    word.since = std::min(word.since, since);
    ++word.waiters;
    return at->second;
  }

  void add_wait(std::uint32_t process, const OpenWait& wait) {
    std::optional<std::uint32_t> wanted;
    if (wait.names_wanted != 0) wanted = wait.wanted;
    const std::size_t index = word_at({process, wait.device, wait.site, wait.address, wanted}, wait.begin);
    WaitedWord& word = all_.words[index];
    Reading& reading = readings_[index];
    word.source = wait.source;
    if (!word.value || wait.seen >= reading.seen) {
      word.value = wait.value;
      reading.seen = wait.seen;
    }
    word.iteration = wait.iteration;
    word.grid = wait.blocks;
    word.releasing = wait.releasing;
    if (wait.source == WaitSource::patched) {
      if (wait.address == 0) word.value.reset();
      word.memory = wait.memory;
      word.wants = {wait.relation, wait.is_64_bit != 0, wait.wide_wanted, wait.wanted_mask};
      if (wait.address != 0 && wait.seen >= reading.seen) {
        word.wide_value = wait.wide_value;
        word.value_at = wait.seen;
      }
    }
    word.blocks.push_back(wait.block);
    all_.parties[index].waiters.insert({process, false, wait.block, wait.sm, 0});
    reading.tag = wait.word_tag;
  }

  void add_call(std::uint32_t process, const OpenCall& call, std::optional<std::uint32_t> value) {
    std::optional<std::uint32_t> wanted;
    if (call.names_wanted != 0) wanted = call.wanted;
    const std::size_t index = word_at({process, kHostDevice, call.name, call.handle, wanted}, call.begin);
    WaitedWord& word = all_.words[index];
    word.source = call.source;
    if (value) word.value = value;
    word.iteration = call.iteration;
    word.threads.push_back(call.thread);
    all_.parties[index].waiters.insert({process, true, 0, 0, call.thread});
  }

  /// Two sides may see a word at two addresses; so signals belong to a word by its tag.
  void find_writers(std::size_t index) {
    WaitedWord& word = all_.words[index];
    WordParties& parties = all_.parties[index];
    const std::optional<WordTag> tag = readings_[index].tag;
    std::vector<LastSignal> of_word;
    for (const LastSignal& signal : view_.signals) {
      if (signal.site != word.site) continue;
      parties.site_signals.push_back(signal);
      if (tag.value_or(0) != 0 && signal.word == tag) of_word.push_back(signal);
    }
    parties.told_by_word = !of_word.empty();
    // Copies and other writes of a patched loop's word are known by the word alone.
    const bool by_word = word.source == WaitSource::patched;
    if (by_word) parties.site_signals = of_word;
    parties.writers = of_word.empty() ? parties.site_signals : std::move(of_word);
    std::sort(parties.writers.begin(), parties.writers.end(), [](const auto& a, const auto& b) { return a.at > b.at; });
    if (!parties.writers.empty()) word.last = parties.writers.front();
    if (!by_word) return;
    for (const SeenCandidate& candidate : view_.candidates) {
      if (candidate.site == word.site && candidate.word == tag) word.candidates.push_back(candidate);
    }
    std::stable_sort(word.candidates.begin(), word.candidates.end(),
                     [](const auto& a, const auto& b) { return a.exact > b.exact; });
  }

  const StuckView& view_;
  WaitedWords all_;
  std::vector<Reading> readings_;  // per word
  std::map<WordKey, std::size_t> known_;
};

/// A patched loop's site is named "kernel:line".
std::string kernel_of_loop(const std::string& site) { return site.substr(0, site.rfind(':')); }

}  // namespace

bool WaitedWords::depends_on(std::size_t word, std::size_t other) const {
  if (!parties[word].told_by_word && words[word].site == words[other].site) return false;
  const std::vector<LastSignal>& writers = parties[word].writers;
  return std::any_of(writers.begin(), writers.end(),
                     [&](const LastSignal& signal) { return parties[other].waiters.contains(agent_of(signal)); });
}

bool WaitedWords::may_depend_on(std::size_t word, std::size_t other) const {
  const WaitedWord &here = words[word], &there = words[other];
  if (there.source != WaitSource::patched || here.processes != there.processes) return false;
  const std::string kernel = kernel_of_loop(there.site);
  if (kernel == kernel_of_loop(here.site)) return false;  // its blocks wait for each other, or for nobody
  bool any = false;
  for (const SeenCandidate& candidate : here.candidates) {
    if (!candidate.exact) continue;
    if (function_name(candidate.kernel) != kernel) return false;
    any = true;
  }
  return any;
}

WaitedWords waited_words(const StuckView& view) { return Collection(view).run(); }

}  // namespace wicprof::analyzer
