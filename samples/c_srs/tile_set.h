// The tiles that come down from the satellite: as PNG, in memory, all of one size. The stream goes through them round
// and round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "c_srs/png_image.h"

namespace sample::srs {

class TileSet {
 public:
  /// All PNG files of a folder, in the order of their names, cut into tiles of edge x edge pixels; what the last column
  /// and row lack is filled with the image's last pixels. Errors: no folder, no PNG in it, one that cannot be read.
  static wicprof::Result<std::shared_ptr<const TileSet>> load(const std::filesystem::path& folder, std::uint32_t edge);

  /// `count` tiles of scenery.h: written to a folder of their own among the temporary files, loaded from there, and
  /// removed again.
  static wicprof::Result<std::shared_ptr<const TileSet>> make_up(std::uint32_t count, std::uint32_t edge);

  std::uint32_t edge() const { return edge_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(tiles_.size()); }

  /// What the sensor has measured: edge x edge pixels. Any thread.
  wicprof::Result<> decode(std::uint32_t tile, std::span<Pixel> pixels) const;

 private:
  explicit TileSet(std::uint32_t edge) : edge_(edge) {}
  wicprof::Result<> add(const Image& image);

  std::uint32_t edge_;
  std::vector<std::vector<std::byte>> tiles_;
};

/// How many tiles to make up for batches of `batch`: so that a batch is none of those before it, whose messages might
/// still lie where its own belong, and that few different batches come out of them.
constexpr std::uint32_t tiles_for_batches_of(std::uint32_t batch) {
  const std::uint32_t count = batch + (batch + 1) / 2;
  return count < 3 ? 3 : count;
}

}  // namespace sample::srs
