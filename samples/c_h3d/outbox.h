// The memory of a rank's messages: pinned host memory, which the CPU and every GPU access in place; managed memory for
// the naive way of waiting.
//
// Each of the 18 messages has two slots, for even and for odd iterations. A slot is a contiguous buffer and a flag word
// on a separate cache line; the flag holds the iteration number of the message in the buffer.
//
// Two slots suffice, without a "consumed" signal. Let S send to Q, and let S be about to pack the message of iteration
// t + 2 into the slot of iteration t. S has then finished iteration t + 1, so it has received Q's message of t + 1 (the
// ring is symmetric: every receiver also sends). Q sends that message only after it has finished iteration t, because a
// device's kernels run in stream order and the CPU's threads meet at a barrier after every iteration. Q has therefore
// unpacked the message of t. Each of these steps is ordered by a release and an acquire of a flag, by a stream or by a
// barrier, so Q's reads precede S's writes. By the same argument a waiter finds exactly the number it waits for, never
// a later one; the program checks this and counts an overrun otherwise.
//
// One slot would not suffice: Q may send its own message of t before it has unpacked S's message of t, and S could then
// continue.
#pragma once

#include "c_h3d/message.h"

namespace sample::h3d {

struct alignas(128) Flag {
  std::uint32_t word;
};

/// A non-owning reference to the memory.
struct Outbox {
  Cell* cells;
  Flag* flags;
  std::uint32_t n;

  static constexpr std::uint32_t kFlags = 2 * kMessages;
  WIC_DEVICE static std::uint32_t padded(std::uint32_t cells_sent) { return (cells_sent + 31) / 32 * 32; }
  WIC_DEVICE std::uint32_t side_cells() const { return padded(n * n) + 4 * padded(n) + 4 * padded(1); }
  WIC_DEVICE std::uint32_t stored_cells() const { return 2 * 2 * side_cells(); }

  WIC_DEVICE std::uint32_t cells_of(std::uint32_t message) const {
    const std::uint32_t k = message % kPerSide;
    return k == 0 ? n * n : k < 5 ? n : 1;
  }
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

/// Cells in all messages of a rank per iteration.
inline std::uint64_t cells_sent(std::uint64_t n) { return 2 * (n * n + 4 * n + 4); }

}  // namespace sample::h3d
