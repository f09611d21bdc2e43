// Where a channel's messages are in memory, and how they are announced. For the CPU and for kernels.
//
// A message is (tag, cycle); the cycles of a tag count from 1. Each tag has two slots, one for odd and one for even
// cycles. 16 tags make a batch, whose slots are adjacent in one run of pages, so that messages of one cycle that are
// sent together are one copy. A producer is at most two cycles ahead of what the consumer has released, so no slot is
// written while it is read.
//
// A slot is a line with the message's length, followed by the message; a short message is inside that line:
//
//   up to 8 bytes     | message:8 | bytes:4 | ready:4 |                      one 16-byte store is message and flag
//   up to 112 bytes   | -:8       | bytes:4 | ready:4 | message |
//   longer            | -:12      | ready:4 | -:48 | bytes:4 | -:60 |  message ...
//
// A message is announced in one of three ways: by the word `ready`, which holds the number of the last cycle; by a bit
// (DAB) in one of two bitmaps, for odd and for even cycles, whose meaning is inverted at each reuse of the bitmap, so
// that no bit is ever cleared; or by a count (way naive).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/bit_value.h"
#include "wic/channel_spec.h"
#include "wic/message_pages.h"
#include "wic/platform.h"

namespace wic {

inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kLineWords = kLineBytes / 4;
inline constexpr std::uint32_t kBatchTags = 16;

struct SlotLayout {
  std::uint32_t stride;      ///< bytes from one slot to the next
  std::uint32_t bytes_at;    ///< offset of the length in a slot
  std::uint32_t payload_at;  ///< offset of the message in a slot

  static constexpr std::uint32_t kReadyAt = 12;
  static constexpr std::uint32_t kQuadBytes = 8;
  static constexpr std::uint32_t kLinePayload = kLineBytes - 16;

  WIC_DEVICE constexpr bool is_quad() const { return payload_at == 0; }
};

/// `apart`: the announcing word must not be between the length and the message, because a copy carries those two.
constexpr SlotLayout slot_layout(std::uint32_t max_bytes, bool apart) {
  if (!apart && max_bytes <= SlotLayout::kQuadBytes) return {kLineBytes, 8, 0};
  if (!apart && max_bytes <= SlotLayout::kLinePayload) return {kLineBytes, 8, 16};
  return {kLineBytes + (max_bytes + kLineBytes - 1) / kLineBytes * kLineBytes, 64, kLineBytes};
}

enum class Announce : std::uint8_t { word, bit, count };

/// A polled word on its own line.
struct alignas(kLineBytes) WordLine {
  std::uint32_t word;
};

struct Mailbox {
  std::byte* pages = nullptr;
  const std::uint32_t* first_page = nullptr;  ///< per batch: first those of even cycles, then those of odd ones
  std::uint32_t* words = nullptr;             ///< bit: WordLines, even cycles first. count: one word per tag
  std::uint32_t tags = 0;
  std::uint32_t max_bytes = 0;
  SlotLayout slots{};
  Announce announce = Announce::word;

  WIC_DEVICE std::uint32_t batches() const { return (tags + kBatchTags - 1) / kBatchTags; }
  WIC_DEVICE std::uint32_t bit_words() const { return (tags + 31) / 32; }
  WIC_DEVICE std::byte* slot(Tag tag, std::uint32_t cycle) const {
    const std::uint32_t page = first_page[(cycle & 1) * batches() + tag / kBatchTags];
    return pages + page * kPageBytes + std::size_t{tag % kBatchTags} * slots.stride;
  }
  WIC_DEVICE std::byte* payload(Tag tag, std::uint32_t cycle) const { return slot(tag, cycle) + slots.payload_at; }
  WIC_DEVICE std::uint32_t* length(Tag tag, std::uint32_t cycle) const {
    return reinterpret_cast<std::uint32_t*>(slot(tag, cycle) + slots.bytes_at);
  }
  /// The word that announces a message, by any of the three ways.
  WIC_DEVICE std::uint32_t* word(Tag tag, std::uint32_t cycle) const {
    if (announce == Announce::count) return words + tag;
    if (announce == Announce::bit) return words + std::size_t{(cycle & 1) * bit_words() + tag / 32} * kLineWords;
    return reinterpret_cast<std::uint32_t*>(slot(tag, cycle) + SlotLayout::kReadyAt);
  }
  /// The value that the trace records for the signal of a message.
  WIC_DEVICE std::uint32_t recorded_value(Tag tag, std::uint32_t cycle) const {
    return announce == Announce::bit ? wicprof::kBitValue + tag % 32 : cycle;
  }
  WIC_DEVICE static std::uint32_t bit(Tag tag) { return 1u << (tag % 32); }
};

/// The word of availability bits when the messages of all its tags have arrived: all ones in cycles 1, 2, 5, 6, ...,
/// zero in cycles 3, 4, 7, 8, ... Words start at zero.
WIC_DEVICE constexpr std::uint32_t all_arrived(std::uint32_t cycle) { return ((cycle - 1) >> 1 & 1) == 0 ? ~0u : 0u; }

/// The condition of a wait for one or several tags of one word of availability bits.
struct BitsArrived {
  std::uint32_t mask;
  std::uint32_t all;  ///< all_arrived(cycle)
  Tag tag;            ///< one of the tags
  WIC_DEVICE bool operator()(std::uint32_t value) const { return ((value ^ all) & mask) == 0; }
  /// For a wait for one tag: the value recorded for the signal that ended the wait.
  WIC_DEVICE std::uint32_t recorded_value(std::uint32_t value) const {
    return mask == Mailbox::bit(tag) ? wicprof::kBitValue + tag % 32 : value;
  }
};

}  // namespace wic
