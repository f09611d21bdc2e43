// Where a rank's messages lie: in pinned host memory, which the CPU and every GPU read and write in place; in the naive
// way in managed memory.
//
// Each of the 18 messages has two places, for even and for odd iterations. A place is a contiguous buffer and a flag
// word on a line of its own; the flag holds the number of the iteration whose message the buffer holds.
//
// Why two places are enough, and no word has to come back that says "consumed". Let S send to Q, and let S be about to
// pack the message of iteration t + 2 where that of t was. S is then done with iteration t + 1, so it has received what
// Q sent it in t + 1 (the ring is symmetric: who is sent to also sends). Q sends that only after it is done with
// iteration t: a device's kernels follow each other in a stream, the CPU's threads come together after every iteration.
// Being done with t means having unpacked the message of t. Each step is ordered by a release and an acquire of a flag,
// by a stream or by a barrier, so Q's reads come before S's writes. By the same argument a waiter finds exactly the
// number that it waits for, never a later one; the program checks that, and counts an overrun otherwise.
//
// One place would not do: Q may still be unpacking the message of t when it has long sent its own, and S could then go
// on.
#pragma once

#include "c_h3d/message.h"

namespace sample::h3d {

struct alignas(128) Flag {
  std::uint32_t word;
};

/// Refers to the memory; whoever made it owns it.
struct Outbox {
  Cell* cells;
  Flag* flags;
  std::uint32_t n;

  static constexpr std::uint32_t kFlags = 2 * kMessages;
  WIC_DEVICE static std::uint32_t padded(std::uint32_t cells_sent) { return (cells_sent + 31) / 32 * 32; }
  WIC_DEVICE std::uint32_t side_cells() const { return padded(n * n) + 4 * padded(n) + 4 * padded(1); }
  WIC_DEVICE std::uint32_t stored_cells() const { return 2 * 2 * side_cells(); }

  WIC_DEVICE Flag* flag(std::uint32_t message, std::uint32_t iteration) const {
    return flags + (iteration % 2) * kMessages + message;
  }
  WIC_DEVICE Cell* buffer(std::uint32_t message, std::uint32_t iteration) const {
    const std::uint32_t k = message % kPerSide;
    const std::uint32_t before = k == 0  ? 0
                                 : k < 5 ? padded(n * n) + (k - 1) * padded(n)
                                         : padded(n * n) + 4 * padded(n) + (k - 5) * padded(1);
    return cells + ((iteration % 2) * 2 + side_of(message)) * side_cells() + before;
  }
};

/// Cells in all messages of a rank, in one iteration.
inline std::uint64_t cells_sent(std::uint64_t n) { return 2 * (n * n + 4 * n + 4); }

}  // namespace sample::h3d
