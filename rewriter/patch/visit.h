// What stands in the code of a patched function: the visit of a waiting thread before it goes back to its own poll.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// What a thread knows of a wait that has lasted until its first look, in local memory: the registers are the program's.
/// Shorter waits leave it alone, since an instruction that empties the L1 cache would make each access slow.
struct ThreadState {
  std::uint64_t begin_ns;
  std::uint64_t ended_ns;
  std::uint32_t flags;   ///< bits 0 to 16: the pause of each round, in ns; then kSlow
  std::uint32_t rounds;  ///< when the wait ended
  std::uint32_t value;   ///< the low 32 bits of what its last poll has read
  std::uint32_t reserved;
};
static_assert(sizeof(ThreadState) == 32);

inline constexpr std::uint32_t kPauseBits = 0x1ffff;
inline constexpr std::uint32_t kSlow = 1u << 29;  ///< reads of the word take long
static_assert(kLongestPause <= kPauseBits);
/// The wait is over. The record of its end waits until the thread waits again or ends: the loads and stores of a record
/// would delay what the program does next.
inline constexpr std::uint32_t kEnded = 1u << 31;

/// Declares the thread's state (ThreadState) and its registers, and gives them the values of a thread that does not
/// wait. The registers are few, since a kernel with more registers may have fewer warps:
///   %__wic_n  rounds of this wait
///   %__wic_m  the round in which the thread looks next; 0: in the next one, which is the first of a wait
///   %__wic_l  when the last look was, or when the thread came to the loop: the low 32 bits of the device's clock
///   %__wic_k  the round of the last look; 0: the wait has no look yet
///   %__wic_s  the record that the thread has begun; 0: none. 1 + Site::in_function, with kEnded if the wait is over
/// Only the last one is needed outside of loops.
std::string registers_text();

/// A thread comes to a loop from above. `addresses`: the registers with the addresses of the words that it polls there.
std::string arrive_text(const std::set<std::string_view>& addresses);

/// The branch that goes back, behind the visit.
struct BackEdge {
  std::string_view guard;  ///< empty: always
  bool guard_negated = false;
  std::string_view label;  ///< where it goes; empty: the code falls through, or the branch chooses
};

/// Reads and writes the table only, and ends in bounded time whatever others do.
std::string visit_text(const Site& site, const Table& table, const BackEdge& back);

/// What stands where loops are left: a wait of `sites` is over. `label` distinguishes the places of a module.
std::string exit_text(const std::vector<const Site*>& sites, const std::string& label);

}  // namespace wicprof::rewriter
