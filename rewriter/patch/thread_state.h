// What a waiting thread knows of its wait: in one register, and in its local memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rewriter/patch/words.h"

namespace wicprof::rewriter {

/// Of a wait that has lasted until its first look, in local memory: the registers are the program's. Shorter waits
/// leave it alone, since an instruction that empties the L1 cache would make each access slow.
struct ThreadState {
  std::uint64_t begin_ns;
  std::uint64_t looked_ns;  ///< when its last look began
  // Of a wait that has ended, and whose begin is recorded:
  std::uint32_t rounds;    ///< %__wic_n
  std::uint32_t value;     ///< the low 32 bits of what its last poll has read
  std::uint32_t ended_ns;  ///< when its last round began, low 32 bits
  std::uint32_t reserved;
  std::uint32_t flags;    ///< bits 0 to 16: the pause of each round, in ns; then kSlow
  std::uint32_t next_ns;  ///< while the thread pauses in each round: when the next look is due, low 32 bits
  std::uint32_t site;     ///< of a wait whose begin is recorded: Site::in_function
  std::uint32_t reserved2;
};
static_assert(sizeof(ThreadState) == 48 && offsetof(ThreadState, rounds) % 16 == 0);

inline constexpr std::uint32_t kPauseBits = 0x1ffff;
inline constexpr std::uint32_t kSlow = 1u << 29;  ///< reads of the word take long
static_assert(kLongestPause <= kPauseBits);

// The bits of %__wic_n above the rounds of the wait:
/// The end of an earlier wait, or of this one, is still to be recorded.
inline constexpr std::uint32_t kPending = 1u << 31;
/// The thread has looked, so that its state is that of this wait; the begin of this wait is recorded.
inline constexpr std::uint32_t kLooked = 1u << 30, kBegun = 1u << 29;
/// The thread does not wait, or has come to the loop by a branch.
inline constexpr std::uint32_t kNoWait = 1u << 28;
/// At its last look, the thread looked beside a lower lane of its warp, which records for both.
inline constexpr std::uint32_t kFollows = 1u << 27, kRoundBits = kFollows - 1;
/// The look takes these off when there are more: the rounds of two looks in a row never run into the flags.
inline constexpr std::uint32_t kMostRounds = kRoundBits / 2;

// What a site says of itself when it calls the look: Site::number in bits 0 to 15, Site::in_function in bits 16 to 23,
// and:
inline constexpr std::uint32_t kInFunctionShift = 16;
struct SiteBits {
  enum : std::uint32_t {
    kLeaves = 1u << 24,  ///< no site: the thread leaves the function, and the end of a wait is to be recorded
    kRecords = 1u << 25,
    kPauses = 1u << 26,
    kBriefly = 1u << 27,
    kWatches = 1u << 28,
    kKnowsWord = 1u << 29,
    kIs64Bit = 1u << 30,
  };
};

}  // namespace wicprof::rewriter
