// Which keys lie where, and what the sorting network asks of them.
//
// The keys g = 0, 1, ... 2^bits - 1 are dealt out in pieces, block-cyclically: piece by piece to one device after the
// other. So the bits of g are, from the top: which of the device's pieces | which device | where in the piece.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample::bs {

/// A key with the place that it had at first behind it: no two are equal, so there is one right order.
using Record = std::uint64_t;

WIC_DEVICE constexpr Record record_of(std::uint32_t key, std::uint32_t place) {
  return (std::uint64_t{key} << 32) | place;
}

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
WIC_DEVICE constexpr std::uint32_t key_at(std::uint64_t seed, std::uint32_t place) {
  std::uint64_t x = seed + (std::uint64_t{place} + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 32);
}

struct Layout {
  std::uint32_t keys = 0;         ///< that the program is about; those up to 2^bits are put behind them
  std::uint32_t bits = 0;         ///< of g
  std::uint32_t device_bits = 0;  ///< 2^device_bits devices
  std::uint32_t piece_bits = 0;   ///< 2^piece_bits keys a piece

  WIC_DEVICE std::uint32_t piece_keys() const { return 1u << piece_bits; }
  WIC_DEVICE std::uint32_t devices() const { return 1u << device_bits; }
  /// Of one device.
  WIC_DEVICE std::uint32_t local_keys() const { return 1u << (bits - device_bits); }
  WIC_DEVICE std::uint32_t pieces() const { return 1u << (bits - device_bits - piece_bits); }

  WIC_DEVICE std::uint32_t global(std::uint32_t device, std::uint32_t local) const {
    return ((local >> piece_bits) << (piece_bits + device_bits)) | (device << piece_bits) |
           (local & (piece_keys() - 1));
  }
  /// Step `bit` of any phase compares keys whose g differs in that bit: keys of one device, unless it tells devices
  /// apart.
  WIC_DEVICE bool is_remote(std::uint32_t bit) const { return bit >= piece_bits && bit < piece_bits + device_bits; }
  /// The record that place g has at first: behind the program's keys come ones that are greater than all of them.
  WIC_DEVICE Record first_record(std::uint64_t seed, std::uint32_t g) const {
    return record_of(g < keys ? key_at(seed, g) : 0xffffffffu, g);
  }
};

/// Phase `phase` (1 to bits) leaves runs of 2^phase keys sorted, by turns upwards and downwards (Batcher 1968).
WIC_DEVICE constexpr bool upwards(std::uint32_t g, std::uint32_t phase) { return ((g >> phase) & 1) == 0; }

/// Whether the key at g keeps the smaller of the two that step `bit` of a phase compares.
WIC_DEVICE constexpr bool keeps_smaller(std::uint32_t g, std::uint32_t phase, std::uint32_t bit) {
  return upwards(g, phase) == (((g >> bit) & 1) == 0);
}

/// The layout of that many keys on 2^device_bits devices. Pieces are made shorter where there would not be two a
/// device.
constexpr Layout layout_of(std::uint32_t keys, std::uint32_t device_bits, std::uint32_t piece_bits) {
  std::uint32_t bits = device_bits + 2;
  while (bits < 31 && (1u << bits) < keys) ++bits;
  const std::uint32_t most = bits - device_bits - 1;
  return {keys, bits, device_bits, piece_bits < most ? piece_bits : most};
}

/// How a device's pieces are cut into messages: message t has pieces t, t + tags, t + 2 * tags and so on.
struct Cut {
  std::uint32_t pieces = 0;
  std::uint32_t tags = 0;

  WIC_DEVICE std::uint32_t count(std::uint32_t tag) const { return (pieces - tag + tags - 1) / tags; }
};

}  // namespace sample::bs
