// The distribution of keys over devices and pieces, and the comparisons of the sorting network.
//
// Keys have global indices g = 0, 1, ... 2^bits - 1 and are distributed in pieces, block-cyclically over the devices.
// The bits of g are, from the top: piece within the device | device | position in the piece.
#pragma once

#include <cstdint>

#include "common/mix.h"
#include "wic/platform.h"

namespace sample::bs {

/// A key in the high half and its original index in the low half. No two records are equal, so the sorted order is
/// unique.
using Record = std::uint64_t;

WIC_DEVICE constexpr Record record_of(std::uint32_t key, std::uint32_t place) {
  return (std::uint64_t{key} << 32) | place;
}

/// The key that starts at index `place`.
WIC_DEVICE constexpr std::uint32_t key_at(std::uint64_t seed, std::uint32_t place) {
  return static_cast<std::uint32_t>(mix(seed + std::uint64_t{place} * kMixIncrement) >> 32);
}

struct Layout {
  std::uint32_t keys = 0;         ///< requested; padding keys fill up to 2^bits
  std::uint32_t bits = 0;         ///< of g
  std::uint32_t device_bits = 0;  ///< 2^device_bits devices
  std::uint32_t piece_bits = 0;   ///< 2^piece_bits keys per piece

  WIC_DEVICE std::uint32_t piece_keys() const { return 1u << piece_bits; }
  WIC_DEVICE std::uint32_t devices() const { return 1u << device_bits; }
  /// Keys per device.
  WIC_DEVICE std::uint32_t local_keys() const { return 1u << (bits - device_bits); }
  WIC_DEVICE std::uint32_t pieces() const { return 1u << (bits - device_bits - piece_bits); }

  WIC_DEVICE std::uint32_t global(std::uint32_t device, std::uint32_t local) const {
    return ((local >> piece_bits) << (piece_bits + device_bits)) | (device << piece_bits) |
           (local & (piece_keys() - 1));
  }
  /// Step `bit` of any phase compares keys whose g differs in that bit. Whether that bit is part of the device number.
  WIC_DEVICE bool is_remote(std::uint32_t bit) const { return bit >= piece_bits && bit < piece_bits + device_bits; }
  /// The initial record at index g. Padding records are greater than all requested keys.
  WIC_DEVICE Record first_record(std::uint64_t seed, std::uint32_t g) const {
    return record_of(g < keys ? key_at(seed, g) : 0xffffffffu, g);
  }
};

/// Phase `phase` (1 to bits) leaves sorted runs of 2^phase keys, alternately ascending and descending (Batcher 1968).
WIC_DEVICE constexpr bool upwards(std::uint32_t g, std::uint32_t phase) { return ((g >> phase) & 1) == 0; }

/// Whether index g keeps the smaller of the two keys that step `bit` of a phase compares.
WIC_DEVICE constexpr bool keeps_smaller(std::uint32_t g, std::uint32_t phase, std::uint32_t bit) {
  return upwards(g, phase) == (((g >> bit) & 1) == 0);
}

/// The layout of `keys` keys on 2^device_bits devices. Shortens the pieces if a device would have fewer than two.
constexpr Layout layout_of(std::uint32_t keys, std::uint32_t device_bits, std::uint32_t piece_bits) {
  std::uint32_t bits = device_bits + 2;
  while (bits < 31 && (1u << bits) < keys) ++bits;
  const std::uint32_t max_piece_bits = bits - device_bits - 1;
  return {keys, bits, device_bits, piece_bits < max_piece_bits ? piece_bits : max_piece_bits};
}

/// The assignment of a device's pieces to messages: message t has pieces t, t + tags, t + 2 * tags and so on.
struct Cut {
  std::uint32_t pieces = 0;
  std::uint32_t tags = 0;

  WIC_DEVICE std::uint32_t count(std::uint32_t tag) const { return (pieces - tag + tags - 1) / tags; }
};

}  // namespace sample::bs
