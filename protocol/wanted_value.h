// What a wait wants of its word, where it is known.
#pragma once

#include <cstdint>

namespace wicprof {

/// How the word must stand to the value, so that the wait ends.
enum class WantedRelation : std::uint8_t {
  unknown = 0,
  equal = 1,
  not_equal = 2,
  at_least = 3,  ///< as unsigned numbers
  at_most = 4,   ///< as unsigned numbers
  signed_at_least = 5,
  signed_at_most = 6,
};

struct WantedValue {
  WantedRelation relation = WantedRelation::unknown;
  bool is_64_bit = false;  ///< of the word; else 32 bits
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};  ///< the bits of the word that count, for `equal` and `not_equal`

  bool operator==(const WantedValue&) const = default;

  /// Whether a word with that content ends the wait. False where the relation is unknown.
  constexpr bool holds(std::uint64_t word) const {
    const auto as_signed = [&](std::uint64_t bits) {
      return is_64_bit ? static_cast<std::int64_t>(bits)
                       : static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
    };
    const std::uint64_t all = is_64_bit ? ~std::uint64_t{0} : 0xffff'ffffu;
    switch (relation) {
      case WantedRelation::equal:
        return (word & mask & all) == (value & all);
      case WantedRelation::not_equal:
        return (word & mask & all) != (value & all);
      case WantedRelation::at_least:
        return (word & all) >= (value & all);
      case WantedRelation::at_most:
        return (word & all) <= (value & all);
      case WantedRelation::signed_at_least:
        return as_signed(word) >= as_signed(value);
      case WantedRelation::signed_at_most:
        return as_signed(word) <= as_signed(value);
      case WantedRelation::unknown:
        break;
    }
    return false;
  }
};

}  // namespace wicprof
