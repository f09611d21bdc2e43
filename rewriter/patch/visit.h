// The visit: what a waiting thread does before it goes back to its own poll.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

// Registers of a patched function. They are the thread's own, so that no two threads disturb each other. They are few,
// since a kernel with more registers may have fewer warps:
//   %__wic_n  rounds of this wait
//   %__wic_m  how long after the last look the next one is, in ns; 0: in the next round
//   %__wic_w  what the thread knows of its wait, or, with kEnded, of the wait before; 0: nothing yet:
//             bits 0 to 7: 1 + Site::in_function
//             bits 8 to 24: the pause of each round, in ns
//             then the flags
//   %__wic_t  when the wait has begun, in units of 1024 ns of the device's clock; known with kTimed. With kEnded: when
//             the wait has ended, the high 32 bits in ns
//   %__wic_l  when the last look was, or when the thread came to the loop, in ns: the low 32 bits of the device's clock
//   With kEnded:
//   %__wic_e0  when the wait has ended, the low 32 bits
//   %__wic_e1  its rounds
//   %__wic_e2  the low 32 bits of the value that its last poll has read
inline constexpr std::uint32_t kSiteBits = 0xff;
inline constexpr std::uint32_t kPauseShift = 8, kPauseBits = 0x1ffffu << kPauseShift;
inline constexpr std::uint32_t kTimed = 1u << 28;
inline constexpr std::uint32_t kSlow = 1u << 29;   ///< reads of the word take long
inline constexpr std::uint32_t kBegun = 1u << 30;  ///< the begin is recorded
/// The wait is over. The record of its end waits until the thread waits again or ends: the loads and stores of a record
/// would delay what the program does next.
inline constexpr std::uint32_t kEnded = 1u << 31;
static_assert(kLongestPause <= kPauseBits >> kPauseShift);

/// Declares the registers and gives them the values of a thread that does not wait.
std::string registers_text();
/// A thread comes to a loop from above. `anew`: its last wait may have ended unseen.
std::string arrive_text(bool anew);

/// The branch that goes back, behind the visit.
struct BackEdge {
  std::string_view guard;  ///< empty: always
  bool guard_negated = false;
  std::string_view label;  ///< where it goes; empty: the code falls through, or the branch chooses
};

/// Reads and writes the table only, and ends in bounded time whatever others do.
std::string visit_text(const Site& site, const Table& table, const BackEdge& back);

}  // namespace wicprof::rewriter
