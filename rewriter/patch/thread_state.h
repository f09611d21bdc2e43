// What a waiting thread knows of its wait: in local memory, and in its register of rounds.
#pragma once

#include <cstdint>

#include "rewriter/patch/words.h"

namespace wicprof::rewriter {

/// What a thread knows of a wait that has lasted until its first look, or is timed, in local memory: the
/// registers are the program's. Other waits leave it alone, since an instruction that empties the L1 cache would make
/// each access slow.
struct ThreadState {
  std::uint64_t begin_ns;
  std::uint32_t flags;     ///< bits 0 to 16: the pause of each round, in ns; then kSlow and kTried
  std::uint32_t next_ns;   ///< while the thread pauses in each round: when the next look is due, low 32 bits
  std::uint64_t ended_ns;  ///< of a wait whose begin is recorded, or that is timed: when its last round began
  std::uint32_t rounds;    ///< %__wic_n, when the wait ended
  /// The low 32 bits of what its last poll has read; with kTried, while it waits, what the loop is known to wait on
  /// with (of 64 bits, both halves joined by xor).
  std::uint32_t value;
};
static_assert(sizeof(ThreadState) == 32);

inline constexpr std::uint32_t kPauseBits = 0x1ffff;
inline constexpr std::uint32_t kSlow = 1u << 29;  ///< reads of the word take long
/// The loop has had a round of this wait to leave with `value`, if that is what it waits for.
inline constexpr std::uint32_t kTried = 1u << 28;
static_assert(kLongestPause <= kPauseBits);
/// Of %__wic_n: the thread has looked, so that its state is that of this wait; the begin of this wait is recorded.
inline constexpr std::uint32_t kLooked = 1u << 30, kBegun = 1u << 29;
/// Of %__wic_n: at its last look, the thread looked beside a lower lane of its warp, which records for both.
inline constexpr std::uint32_t kFollows = 1u << 28, kRoundBits = kFollows - 1;

/// Of %__wic_s: the wait is timed, and nothing of it is recorded.
inline constexpr std::uint32_t kTimed = 1u << 31;

}  // namespace wicprof::rewriter
