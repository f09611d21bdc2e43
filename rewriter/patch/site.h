// A patched back edge, and where its words are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rewriter/patch/words.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

struct Site {
  std::size_t number = 0;       ///< its place in the tables of sites
  std::size_t in_function = 0;  ///< its place among the sites of its function
  std::string_view function;
  const LoopVerdict* loop = nullptr;
  bool beside_poll = false;  ///< each round of a thread that polls passes the poll, and the visit stands there
  bool calls = false;        ///< its look is a function of the module (call.h)

  /// In %__wic_s and in calls: bits 0 to 15 its number, then 1 + its place in its function; never 0.
  std::uint32_t code() const { return static_cast<std::uint32_t>(number | (in_function + 1) << 16); }
  bool records() const { return loop->exits_known; }
  /// Whether each round of a recorded wait notes all that the record of its end says. Else the exit adds the rounds and
  /// the value: a kernel that calls has few registers to spare in the loop, and where the visit stands at the back
  /// edge, the last round does not pass it.
  bool rounds_note_all() const { return records() && beside_poll && !calls; }
  /// Whether other threads can wait for its word in its place. Where the block votes, the word of a thread may be as it
  /// wants, and those of others not: it would wait for a change that does not come.
  bool watches() const { return loop->pause == Pause::any && loop->word.has_value() && !loop->visit_behind; }
};

/// The module's variable: ModuleWords, then DeviceWords per site, then WatchedWords, then kCountSlots SiteCounts per
/// site.
struct Table {
  std::string name;
  std::size_t sites = 0;  ///< of the whole module
  bool counts_waits = true;

  /// The end of all names that the module has once.
  std::string hash() const { return name.substr(name.rfind('_') + 1); }
  std::size_t bytes() const { return counts(sites); }
  std::size_t watched_words() const { return device_words(sites); }
  /// Where the counts of a site begin.
  std::size_t counts(std::size_t site) const {
    return watched_words() + kWatchedWords * sizeof(WatchedWord) + site * kCountSlots * sizeof(SiteCounts);
  }
  /// Where the words of a site begin.
  static std::size_t device_words(std::size_t site) { return sizeof(ModuleWords) + site * sizeof(DeviceWords); }
};

}  // namespace wicprof::rewriter
