#include "src/channel/availability_bitmap.h"

namespace wic {

AvailabilityBitmap::AvailabilityBitmap(std::uint32_t tags) {
  const std::size_t words = (std::size_t{tags} + 31) / 32;
  for (auto& bitmap : words_) bitmap.resize(words);
}

std::uint32_t AvailabilityBitmap::set(Tag tag, std::uint32_t cycle) {
  const auto [index, bit] = position(tag);
  std::uint32_t& word = words_[cycle & 1][index];
  const std::uint32_t mask = 1u << bit;
  word = (word & ~mask) | (full(cycle) & mask);
  return word;
}

bool AvailabilityBitmap::available(Tag tag, std::uint32_t cycle) const {
  const auto [index, bit] = position(tag);
  return ((word(index, cycle) ^ full(cycle)) >> bit & 1) == 0;
}

}  // namespace wic
