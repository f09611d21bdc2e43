#include "analyzer/stuck/dependencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace wicprof::analyzer {

namespace {

using Cycles = std::set<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kMostWordsInCycles = 256;  // bounds the time for pairs

/// Processes see one word at addresses of their own: one cause for all ranks that wait at a site.
void merge_ranks(const WaitedWords& all, std::vector<Cause>& causes) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < causes.size();) {
    Cause& cause = causes[i];
    const auto known = cause.kind == CauseKind::absent_rank ? first.try_emplace(all.words[*cause.word].site, i)
                                                            : std::pair(first.end(), true);
    if (known.second) {
      ++i;
      continue;
    }
    Cause& kept = causes[known.first->second];
    kept.evidence.push_back(cause.evidence.front());
    kept.since = std::min(kept.since, cause.since);
    causes.erase(causes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Cause mutual_wait(const WaitedWord& a, std::size_t index_a, const WaitedWord& b, std::size_t index_b,
                  Confidence confidence, std::string evidence) {
  // The signal that was due first: the one with the lower iteration.
  const bool known = a.iteration != b.iteration;
  const bool a_first = a.iteration <= b.iteration;
  const WaitedWord &first = a_first ? a : b, &second = a_first ? b : a;
  Cause cause;
  cause.kind = CauseKind::mutual_wait;
  cause.confidence = confidence;
  cause.word = a_first ? index_a : index_b;
  cause.since = std::min(a.since, b.since);
  cause.text =
      fmt::format("two waits for each other: {} for {} ({}), and {} for {} ({}); {}", waiters_wait(first),
                  word_name(first), waiting_for(first), waiters_wait(second), word_name(second), waiting_for(second),
                  known ? "the first was due first, by its iteration" : "which was due first is unknown");
  cause.evidence.push_back(std::move(evidence));
  return cause;
}

/// Of the only two words nobody has ever signalled either: the waiters may wait for each other.
bool nobody_signals(const WaitedWords& all) {
  if (all.words[0].site == all.words[1].site) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!all.parties[i].site_signals.empty() || all.words[i].device == kHostDevice) return false;
    if (is_written_unseen(all.words[i].memory)) return false;
  }
  return true;
}

Cycles add_mutual_waits(const WaitedWords& all, std::vector<Cause>& causes) {
  Cycles cycles;
  const std::size_t count = std::min(all.size(), kMostWordsInCycles);
  const auto add = [&](std::size_t a, std::size_t b, Confidence confidence, std::string evidence) {
    causes.push_back(mutual_wait(all.words[a], a, all.words[b], b, confidence, std::move(evidence)));
  };
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      if (all.depends_on(a, b) && all.depends_on(b, a)) {
        add(a, b, Confidence::likely, "each was last written by a waiter of the other");
      } else if (all.words[a].site != all.words[b].site && all.may_depend_on(a, b) && all.may_depend_on(b, a)) {
        add(a, b, Confidence::possible, "of all kernels, those that wait store to each other's words");
      } else {
        continue;
      }
      cycles.insert({a, b});
    }
  }
  if (cycles.empty() && count == 2 && causes.size() == 2 && nobody_signals(all) &&
      causes[0].kind == CauseKind::missing_signal && causes[1].kind == CauseKind::missing_signal) {
    add(0, 1, Confidence::possible, "no signal of either site has been recorded, and nothing else waits");
  }
  return cycles;
}

/// A wait whose writer waits elsewhere is not the first cause.
void mark_consequences(const WaitedWords& all, const Cycles& cycles, std::vector<Cause>& causes) {
  for (Cause& cause : causes) {
    if (!cause.word || cause.kind == CauseKind::mutual_wait || cause.kind == CauseKind::grid_too_large) continue;
    const std::size_t word = *cause.word;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const bool is_known = all.depends_on(word, other);
      if (other == word || (!is_known && !all.may_depend_on(word, other))) continue;
      const bool in_turn = is_known ? all.depends_on(other, word) : all.may_depend_on(other, word);
      if (in_turn && !cycles.contains({std::min(word, other), std::max(word, other)})) continue;
      cause.kind = CauseKind::consequence;
      cause.text += fmt::format("; {} waits itself, for {}",
                                is_known ? "its last writer" : "the only kernel whose code stores to the word",
                                word_name(all.words[other]));
      break;
    }
  }
}

/// A kernel whose blocks poll a word each waits at as many words: one cause for those of a site that lack the same.
class WordsOfSites {
 public:
  WordsOfSites(const WaitedWords& all, const Cycles& cycles) : all_(all) {
    for (const auto& [a, b] : cycles) in_cycles_.insert({a, b});
  }

  void merge(std::vector<Cause>& causes) const {
    std::vector<Cause> kept;
    std::map<Key, std::size_t> known;
    std::map<std::size_t, std::size_t> more;  // per kept cause
    for (Cause& cause : causes) {
      const std::optional<Key> key = key_of(cause);
      const auto [at, added] = key ? known.try_emplace(*key, kept.size()) : std::pair(known.end(), true);
      if (added) {
        kept.push_back(std::move(cause));
        continue;
      }
      Cause& first = kept[at->second];
      if (cause.since < first.since) std::swap(cause, first);
      if (++more[at->second] < kMostNames) first.evidence.push_back(cause.evidence.front());
    }
    for (const auto& [index, count] : more) {
      kept[index].text += fmt::format("; {} more word{} of the site lack{} a signal, too", count, count == 1 ? "" : "s",
                                      count == 1 ? "s" : "");
      if (count >= kMostNames) kept[index].evidence.push_back(fmt::format("and {} more words", count + 1 - kMostNames));
    }
    causes = std::move(kept);
  }

 private:
  static constexpr std::size_t kMostNames = 6;
  /// Of a site in a process: what is said of its words, who wrote them (a host thread, or a kernel), and who may.
  using Key = std::tuple<std::uint32_t, std::string, CauseKind, Confidence, std::optional<Agent>, WordMemory,
                         std::set<std::string>>;

  std::optional<Key> key_of(const Cause& cause) const {
    if (!cause.word || in_cycles_.contains(*cause.word)) return std::nullopt;
    if (cause.kind != CauseKind::missing_signal && cause.kind != CauseKind::mutual_wait) return std::nullopt;
    const WaitedWord& word = all_.words[*cause.word];
    std::optional<Agent> writer;
    if (word.last) {
      writer = agent_of(*word.last);
      writer->block = writer->sm = 0;
    }
    std::set<std::string> candidates;
    for (const SeenCandidate& candidate : word.candidates) candidates.insert(candidate.kernel);
    return Key{word.processes.front(), word.site, cause.kind, cause.confidence, writer, word.memory, candidates};
  }

  const WaitedWords& all_;
  std::set<std::size_t> in_cycles_;
};

}  // namespace

void relate_causes(const WaitedWords& all, std::vector<Cause>& causes) {
  merge_ranks(all, causes);
  const Cycles cycles = add_mutual_waits(all, causes);
  mark_consequences(all, cycles, causes);
  WordsOfSites(all, cycles).merge(causes);
}

}  // namespace wicprof::analyzer
