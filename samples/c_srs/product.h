// The products of a batch of tiles and their memory layout.
#pragma once

#include <cstdint>

#include "c_srs/png_image.h"
#include "common/mix.h"
#include "wic/platform.h"

namespace sample::srs {

enum class Resampling : std::uint8_t { none, bilinear, area };

/// A recipient of pictures: their size and number of shades.
struct Target {
  Resampling resampling;
  std::uint32_t edge;  ///< pixels per tile edge
  std::uint32_t shades;
};

inline constexpr std::uint32_t kTargets = 3;
inline constexpr std::uint32_t kMaxEdge = 1024;  ///< pixels per tile edge; keeps tile arithmetic within 32 bits

/// A batch of tiles and its products. The products of a tile are stored consecutively, target by target.
struct BatchShape {
  std::uint32_t edge = 0;  ///< pixels per tile edge
  std::uint32_t tiles = 0;

  WIC_DEVICE constexpr std::uint32_t tile_pixels() const { return edge * edge; }
  WIC_DEVICE constexpr std::uint32_t tile_bytes() const {
    return tile_pixels() * static_cast<std::uint32_t>(sizeof(Pixel));
  }
  WIC_DEVICE constexpr std::uint64_t pixels() const { return std::uint64_t{tiles} * tile_pixels(); }

  /// 0: the archive, full size; 1: the map, two thirds of the size; 2: the catalogue, a small picture in few shades.
  WIC_DEVICE constexpr Target target(std::uint32_t index) const {
    switch (index) {
      case 0:
        return {Resampling::none, edge, 256};
      case 1:
        return {Resampling::bilinear, edge < 2 ? 1 : edge * 2 / 3, 64};
      default:
        return {Resampling::area, edge < 4 ? 1 : edge / 4, 16};
    }
  }
  /// Rows per tile, over all targets.
  WIC_DEVICE constexpr std::uint32_t product_rows() const { return target(0).edge + target(1).edge + target(2).edge; }
  /// Offset of a target's picture within a tile's products.
  WIC_DEVICE constexpr std::uint32_t product_begin(std::uint32_t index) const {
    std::uint32_t begin = 0;
    for (std::uint32_t t = 0; t < index; ++t) begin += target(t).edge * target(t).edge;
    return begin;
  }
  /// Pixels (bytes) per tile, over all targets.
  WIC_DEVICE constexpr std::uint32_t product_pixels() const { return product_begin(kTargets); }
};

using Shade = std::uint8_t;

inline constexpr std::uint32_t kBins = 256;
WIC_DEVICE constexpr std::uint32_t bin_of(Pixel value) { return value >> 8; }

/// The value range that maps to a target's shades; excludes the darkest and brightest 2 % of a batch.
struct Stretch {
  std::uint32_t low, high;

  WIC_DEVICE constexpr Shade shade(std::uint32_t value, std::uint32_t shades) const {
    if (value <= low) return 0;
    if (value >= high) return static_cast<Shade>(shades - 1);
    return static_cast<Shade>((value - low) * shades / (high - low + 1));
  }
};

/// Computes the range from the batch's histogram of `pixels` values.
WIC_DEVICE constexpr Stretch stretch_of(const std::uint32_t* histogram, std::uint64_t pixels) {
  const std::uint64_t margin = pixels / 50;
  std::uint32_t low = 0, high = kBins - 1;
  for (std::uint64_t below = histogram[0]; below <= margin && low < high; below += histogram[low]) ++low;
  for (std::uint64_t above = histogram[high]; above <= margin && high > low; above += histogram[high]) --high;
  return {low * 256, high * 256 + 255};
}

/// A product pixel's contribution to the batch's digest, modulo 2^64. The digest does not depend on the order and
/// detects a changed pixel or two exchanged pixels.
WIC_DEVICE constexpr std::uint64_t digest_of(std::uint64_t place, Shade shade) { return mix(place << 8 | shade); }

}  // namespace sample::srs
