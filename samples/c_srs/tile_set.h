// The satellite's tiles: PNG data in memory, all of one size. The stream cycles through them.
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
  /// Loads all PNG files of a folder, in name order, cut into tiles of edge x edge pixels; incomplete tiles repeat the
  /// image's last pixels. Errors: no folder, no PNG in it, an unreadable PNG.
  static wic::Result<std::shared_ptr<const TileSet>> load(const std::filesystem::path& folder, std::uint32_t edge);

  /// Generates `count` tiles of scenery.h: writes them to a temporary folder, loads them from there and removes the
  /// folder.
  static wic::Result<std::shared_ptr<const TileSet>> generate(std::uint32_t count, std::uint32_t edge);

  std::uint32_t edge() const { return edge_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(tiles_.size()); }

  /// Decodes a tile's measured values: edge x edge pixels. Any thread.
  wic::Result<> decode(std::uint32_t tile, std::span<Pixel> pixels) const;

 private:
  explicit TileSet(std::uint32_t edge) : edge_(edge) {}
  wic::Result<> add(const Image& image);

  std::uint32_t edge_;
  std::vector<std::vector<std::byte>> tiles_;
};

/// Number of tiles to generate for batches of `batch` tiles. A batch differs from the two before it, whose messages
/// might still be in its buffers, and the number of different batches stays small.
constexpr std::uint32_t tiles_for_batches_of(std::uint32_t batch) {
  const std::uint32_t count = batch + (batch + 1) / 2;
  return count < 3 ? 3 : count;
}

}  // namespace sample::srs
