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
///   %__wic_n  rounds of this wait, with kLooked, kBegun and kFollows; 0: the thread does not wait
///   %__wic_l  when the next look is due: the low 32 bits of the device's clock; of a wait of the sample that has not
///             gone round yet, see counts.h
///   %__wic_s  Site::code() of the wait whose begin is recorded, and its end not yet, or, with kTimed, of a wait that
///             is timed and not added yet; 0: none
///   %__wic_b  (a predicate) whether that wait still lasts, as kBegun says
///   %__wic_c  the clock of this round.
/// The record of an end comes at the first look of the next wait, or before the function ends: its loads and stores
/// would delay what the program does next. Outside of loops, %__wic_s alone is needed.
std::string registers_text();

/// Before a loop: the thread does not wait yet. It does not either without this text; but ptxas knows then that these
/// registers have no values outside of loops.
std::string arrive_text();

/// The branch that goes back, behind a visit that stands there.
struct BackEdge {
  std::string_view guard;  ///< empty: always
  bool guard_negated = false;
  std::string_view label;  ///< where it goes; empty: the code falls through, or the branch chooses
};

/// Reads and writes the table only, and ends in bounded time whatever others do. A visit beside the poll has an empty
/// `back`.
std::string visit_text(const Site& site, const Table& table, const BackEdge& back);

/// The same around a poll that acquires: the instructions behind such a poll wait for its load, so that the clock is
/// read before it.
std::string clock_text();
std::string visit_behind_clock_text(const Site& site, const Table& table);

/// What stands where loops are left: a wait of `sites` is over.
std::string exit_text(const std::vector<const Site*>& sites);

}  // namespace wicprof::rewriter
