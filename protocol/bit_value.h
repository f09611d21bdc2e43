// The value that the trace stores for a signal or wait on one bit of a word. Other bits are other messages, so the
// word's value would not identify this one.
#pragma once

#include <cstdint>

namespace wicprof {

/// Plus the bit's number, 0 to 31.
inline constexpr std::uint32_t kBitValue = 0xa5a5a580u;
inline constexpr std::uint32_t kBitValueMask = 0xffffffe0u;

constexpr bool is_bit_value(std::uint32_t value) { return (value & kBitValueMask) == kBitValue; }

}  // namespace wicprof
