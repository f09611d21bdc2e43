// The look of a waiting thread: what it does every kLookNs, in the loop itself or in a function that the loop calls.
#pragma once

#include <cstddef>
#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// What the look's text names, by the place where it stands: constants in the loop, registers in a function.
struct LookPlace {
  std::string clock;         ///< %__wic_y becomes the clock
  std::string state;         ///< the address of the thread's ThreadState
  std::string number;        ///< makes %__wic_h Site::number
  std::string own;           ///< Site::code()
  std::string find_words;    ///< what comes before the use of `words`
  std::string words;         ///< with words_at bytes behind it, the address of the site's DeviceWords
  std::size_t words_at = 0;  ///< see words
  std::string host_words;    ///< makes %__wic_a, where all SiteWords are, an address so many bytes before the site's:
  std::size_t host_words_at = 0;
  std::string begins;  ///< what the place does when the begin of the wait is recorded
  std::string drops;   ///< what it does when the wait is timed no more
};
LookPlace in_the_loop(const Site& site, const Table& table);

/// The registers of the look that are nobody else's.
std::string look_registers_text();

/// Expects the clock in %__wic_t, and in %__wic_d how late the look is. Reads and writes %__wic_n,
/// %__wic_l and %__wic_s (registers_text() in visit.h), the table, the polled word and the state, and ends in bounded
/// time whatever others do. All ways lead to its end.
std::string look_text(const Site& site, const Table& table, const LookPlace& place);

}  // namespace wicprof::rewriter
