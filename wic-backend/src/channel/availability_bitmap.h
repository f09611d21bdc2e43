// Records which data has arrived (DAB): one bit per tag in each of two bitmaps, which alternate from cycle to cycle. A
// bit's meaning is inverted at each reuse of its bitmap, so no bit is ever cleared.
#pragma once

#include <cstdint>
#include <vector>

namespace wic {

using Tag = std::uint32_t;  ///< names a datum: 0..tags-1

/// Cycles of a tag count from 1: odd ones use one bitmap, even ones the other. A bit cannot distinguish a cycle from
/// the one four later, so query only the last cycle set of that parity or the next one: a producer may be at most two
/// cycles ahead of what its consumer has released. One thread at a time. No allocation after construction. Tags must be
/// below `tags` and cycles above 0.
class AvailabilityBitmap {
 public:
  struct Position {
    std::uint32_t word, bit;
    friend bool operator==(const Position&, const Position&) = default;
  };

  explicit AvailabilityBitmap(std::uint32_t tags);

  /// Marks the tag's datum of that cycle as arrived. Returns the new value of the word with its bit, in the bitmap of
  /// that cycle. A second call with the same arguments changes nothing.
  std::uint32_t set(Tag tag, std::uint32_t cycle);
  bool available(Tag tag, std::uint32_t cycle) const;

  /// A word of the bitmap of that cycle.
  std::uint32_t word(std::uint32_t index, std::uint32_t cycle) const { return words_[cycle & 1][index]; }
  std::uint32_t words() const { return static_cast<std::uint32_t>(words_[0].size()); }

  /// The position of a tag's bit, in either bitmap.
  static constexpr Position position(Tag tag) { return {tag / 32, tag % 32}; }
  /// A word whose tags have all arrived: all ones in cycles 1, 2, 5, 6, ..., zero in 3, 4, 7, 8, ... Words start at
  /// zero, "not arrived" for cycles 1 and 2. Tags have arrived when ((word ^ full(cycle)) & their bits) == 0.
  static constexpr std::uint32_t full(std::uint32_t cycle) { return ((cycle - 1) >> 1 & 1) == 0 ? ~0u : 0u; }

 private:
  std::vector<std::uint32_t> words_[2];  // by cycle & 1
};

}  // namespace wic
