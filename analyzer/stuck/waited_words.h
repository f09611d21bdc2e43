// The words for which a program that hangs waits, with those who wait for each of them and who wrote it.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "analyzer/stuck/stuck_words.h"

namespace wicprof::analyzer {

/// Of one word.
struct WordParties {
  std::set<Agent> waiters;
  std::vector<LastSignal> site_signals;  ///< of the word's site
  std::vector<LastSignal> writers;       ///< signals of the word, the newest first; of its site, where no signal tells
  bool told_by_word = false;             ///< the writers are told from their site's by the word's tag
};

struct WaitedWords {
  std::vector<WaitedWord> words;
  std::vector<WordParties> parties;  ///< as many

  std::size_t size() const { return words.size(); }

  /// Whether one of the word's last writers waits at the other word. Writers that are known only by the site say
  /// nothing about two words of that site: those who have come to a barrier have signalled there, and wait there.
  bool depends_on(std::size_t word, std::size_t other) const;

  /// Whether the kernel that waits at the other word is the only one whose code stores to the word's very address.
  bool may_depend_on(std::size_t word, std::size_t other) const;
};

/// In the order of the view's waits, then of its calls. Calls that have not lasted long are left out.
WaitedWords waited_words(const StuckView& view);

/// Stores of the CPU to such memory are no calls: nobody sees them.
inline bool is_written_unseen(WordMemory memory) {
  return memory == WordMemory::pinned_host || memory == WordMemory::managed;
}

}  // namespace wicprof::analyzer
