// What stands in the code of a patched function: the visit of a waiting thread before it goes back to its own poll.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// What a thread knows of a wait that has lasted until its first look, in local memory: the registers are the
/// program's. Shorter waits leave it alone, since an instruction that empties the L1 cache would make each access slow.
struct ThreadState {
  std::uint64_t begin_ns;
  std::uint64_t ended_ns;  ///< of a wait whose begin is recorded: when its last round began
  std::uint32_t flags;     ///< bits 0 to 16: the pause of each round, in ns; then kSlow
  std::uint32_t next_ns;   ///< while the thread pauses in each round: when the next look is due, low 32 bits
  std::uint32_t rounds;    ///< %__wic_n, when the wait ended
  std::uint32_t value;     ///< the low 32 bits of what its last poll has read
};
static_assert(sizeof(ThreadState) == 32);

inline constexpr std::uint32_t kPauseBits = 0x1ffff;
inline constexpr std::uint32_t kSlow = 1u << 29;  ///< reads of the word take long
static_assert(kLongestPause <= kPauseBits);
/// Of %__wic_n: the thread does not wait, or has come to the loop by a branch.
inline constexpr std::uint32_t kNoWait = 1u << 31;
/// Of %__wic_n: the thread has looked, so that its state is that of this wait; the begin of this wait is recorded.
inline constexpr std::uint32_t kLooked = 1u << 30, kBegun = 1u << 29;
/// Of %__wic_n: at its last look, the thread looked beside a lower lane of its warp, which records for both.
inline constexpr std::uint32_t kFollows = 1u << 28, kRoundBits = kFollows - 1;

/// Declares the thread's state (ThreadState) and its registers, and gives them the values of a thread that does not
/// wait. The registers are few, since a kernel with more registers may have fewer warps, and since ptxas computes the
/// program's values anew behind the loop where they are many:
///   %__wic_n  rounds of this wait, with kNoWait or kLooked, kBegun and kFollows
///   %__wic_l  when the next look is due: the low 32 bits of the device's clock
///   %__wic_s  1 + Site::in_function of the wait whose begin is recorded, and its end not yet; 0: none.
/// The record of an end comes at the first look of the next wait, or before the function ends: its loads and stores
/// would delay what the program does next. Only %__wic_s is needed outside of loops.
std::string registers_text();

/// A thread comes to a loop from above.
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

/// What stands where loops are left: a wait of `sites` is over.
std::string exit_text(const std::vector<const Site*>& sites);

}  // namespace wicprof::rewriter
