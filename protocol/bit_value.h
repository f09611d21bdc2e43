// What the trace has as the value of a signal, or of a wait, that is about one bit of a word: other bits are other
// messages, so the word's value would tell nothing about this one.
#pragma once

#include <cstdint>

namespace wicprof {

/// The bit's number, 0 to 31, is added to it.
inline constexpr std::uint32_t kBitValue = 0xa5a5a580u;
inline constexpr std::uint32_t kBitValueMask = 0xffffffe0u;

constexpr bool is_bit_value(std::uint32_t value) { return (value & kBitValueMask) == kBitValue; }

}  // namespace wicprof
