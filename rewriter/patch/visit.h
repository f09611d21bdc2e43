// What stands in the code of a patched function: the visit of a waiting thread before it goes back to its own poll.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Declares the thread's state (ThreadState) and its registers, and gives them the values of a thread that does not
/// wait. The registers are few, since a kernel with more registers may have fewer warps, and since ptxas computes the
/// program's values anew behind the loop where they are many:
///   %__wic_n  rounds of this wait, with kPending, kLooked, kBegun and kNoWait
///   %__wic_l  when the next look is due: the low 32 bits of the device's clock
///   %__wic_c  the clock of this round.
/// Only %__wic_n is needed outside of loops. `by_branch`: threads may come to a loop by a branch, so that they have to
/// know when they do not wait.
std::string registers_text(bool by_branch);

/// A thread comes to a loop from above.
std::string arrive_text();

/// The branch that goes back, behind a visit that stands there.
struct BackEdge {
  std::string_view guard;  ///< empty: always
  bool guard_negated = false;
  std::string_view label;  ///< where it goes; empty: the code falls through, or the branch chooses
};

/// What a round does before its poll, or behind it: it counts, and reads the clock.
std::string count_text();
/// Behind the poll: the call where it is due.
std::string visit_text(const Site& site, const Table& table);
/// Before the branch that goes back, or where the code falls through to the loop's begin: all of it.
std::string visit_back_text(const Site& site, const Table& table, const BackEdge& back);

/// What stands where loops are left: a wait of `sites` is over. Nothing where nobody has to know.
std::string exit_text(const std::vector<const Site*>& sites, bool by_branch);

/// Before a statement that leaves the function under `guard` (empty: always): a thread with an end to be recorded goes
/// to `last`.
std::string before_leaving_text(const std::string& guard, const std::string& last);
/// The same where that record is written at once, with the call of the look (leave_text).
std::string leave_at_once_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
