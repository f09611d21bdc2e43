// The reference: makes the same pictures from the same tiles sequentially and without messages. Its filter takes two
// passes, the kernel's filter one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_srs/product.h"
#include "c_srs/radiometry.h"
#include "c_srs/resample.h"
#include "c_srs/tile_set.h"

namespace sample::srs {

/// Index in the tile set of `tile` in a station's batch (from 1). Each station starts one batch later than the previous
/// station.
inline std::uint32_t tile_in_stream(const TileSet& tiles, const BatchShape& shape, std::uint32_t station,
                                    std::uint32_t batch, std::uint32_t tile) {
  return static_cast<std::uint32_t>(((std::uint64_t{batch} - 1 + station) * shape.tiles + tile) % tiles.size());
}

/// Filters a tile: across, then down.
inline std::vector<Pixel> smoothed(const std::vector<Pixel>& tile, std::uint32_t edge) {
  const auto pass = [edge](const std::vector<std::uint32_t>& from, std::size_t step, std::size_t other) {
    std::vector<std::uint32_t> to(from.size());
    for (std::size_t line = 0; line < edge; ++line) {
      const auto at = [&](std::ptrdiff_t i) {
        return from[line * other + static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, edge - 1)) * step];
      };
      for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(edge); ++i) {
        to[line * other + static_cast<std::size_t>(i) * step] =
            at(i - 2) + at(i + 2) + 4 * (at(i - 1) + at(i + 1)) + 6 * at(i);
      }
    }
    return to;
  };
  const auto across = pass({tile.begin(), tile.end()}, 1, edge);
  const auto both = pass(across, edge, 1);
  std::vector<Pixel> result(tile.size());
  std::transform(both.begin(), both.end(), result.begin(),
                 [](std::uint32_t v) { return static_cast<Pixel>((v + 128) / 256); });
  return result;
}

class Reference {
 public:
  Reference(std::shared_ptr<const TileSet> tiles, const BatchShape& shape)
      : tiles_(std::move(tiles)), shape_(shape), calibration_(shape.edge), smooth_(tiles_->size()) {}

  /// All products of a batch, tile by tile.
  wic::Result<std::vector<Shade>> products(std::uint32_t station, std::uint32_t batch) {
    std::vector<std::uint32_t> histogram(kBins);
    std::vector<const std::vector<Pixel>*> batch_tiles;
    for (std::uint32_t t = 0; t < shape_.tiles; ++t) {
      const auto tile = smooth_tile(tile_in_stream(*tiles_, shape_, station, batch, t));
      if (!tile) return tile.error();
      batch_tiles.push_back(*tile);
      for (const Pixel value : **tile) ++histogram[bin_of(value)];
    }
    const Stretch range = stretch_of(histogram.data(), shape_.pixels());
    std::vector<Shade> shades;
    shades.reserve(std::size_t{shape_.tiles} * shape_.product_pixels());
    for (const std::vector<Pixel>* tile : batch_tiles) {
      for (std::uint32_t i = 0; i < kTargets; ++i) {
        const Target target = shape_.target(i);
        for (std::uint32_t y = 0; y < target.edge; ++y) {
          for (std::uint32_t x = 0; x < target.edge; ++x) {
            shades.push_back(range.shade(resampled(tile->data(), shape_.edge, target, x, y), target.shades));
          }
        }
      }
    }
    return wic::Result<std::vector<Shade>>(std::move(shades));
  }

  /// Whether a batch's digest is cached, and the number of cached digests.
  bool knows(std::uint32_t station, std::uint32_t batch) const {
    return digests_.contains(tile_in_stream(*tiles_, shape_, station, batch, 0));
  }
  std::size_t known() const { return digests_.size(); }

  /// The digest of all products of a batch. Computed once for batches with the same tiles.
  wic::Result<std::uint64_t> digest(std::uint32_t station, std::uint32_t batch) {
    const std::uint32_t first = tile_in_stream(*tiles_, shape_, station, batch, 0);
    if (const auto known = digests_.find(first); known != digests_.end()) return known->second;
    const auto shades = products(station, batch);
    if (!shades) return shades.error();
    std::uint64_t sum = 0;
    for (std::size_t place = 0; place < shades->size(); ++place) sum += digest_of(place, (*shades)[place]);
    digests_[first] = sum;
    return sum;
  }

  /// Describes the first product that differs from `made`; empty if all are equal.
  wic::Result<std::optional<std::string>> difference(std::uint32_t station, std::uint32_t batch,
                                                     std::span<const Shade> made) {
    const auto right = products(station, batch);
    if (!right) return right.error();
    const auto at = std::mismatch(right->begin(), right->end(), made.begin(), made.end());
    if (at.first == right->end()) return std::optional<std::string>();
    const auto place = static_cast<std::uint64_t>(at.first - right->begin());
    const auto in_tile = static_cast<std::uint32_t>(place % shape_.product_pixels());
    std::uint32_t target = 0;
    while (target + 1 < kTargets && in_tile >= shape_.product_begin(target + 1)) ++target;
    const std::uint32_t pixel = in_tile - shape_.product_begin(target);
    const std::uint32_t edge = shape_.target(target).edge;
    return std::optional<std::string>(
        "tile " + std::to_string(place / shape_.product_pixels()) + " for target " + std::to_string(target) +
        ", pixel (" + std::to_string(pixel % edge) + ", " + std::to_string(pixel / edge) + ") has shade " +
        std::to_string(at.second == made.end() ? -1 : *at.second) + ", not " + std::to_string(*at.first));
  }

 private:
  wic::Result<const std::vector<Pixel>*> smooth_tile(std::uint32_t tile) {
    std::vector<Pixel>& smooth = smooth_[tile];
    if (smooth.empty()) {
      std::vector<Pixel> measured(shape_.tile_pixels()), reflected(shape_.tile_pixels());
      if (auto r = tiles_->decode(tile, measured); !r) return r.error();
      calibration_.correct(measured, reflected.data());
      smooth = smoothed(reflected, shape_.edge);
    }
    return &smooth;
  }

  std::shared_ptr<const TileSet> tiles_;
  BatchShape shape_;
  Calibration calibration_;
  std::vector<std::vector<Pixel>> smooth_;          // filled on demand
  std::map<std::uint32_t, std::uint64_t> digests_;  // key: the batch's first tile
};

}  // namespace sample::srs
