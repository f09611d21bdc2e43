// A kernel hands tiles of an image to the host through a small buffer, with an acknowledgement by hand: all that the
// trace needs to know of it. docs/classification.md shows the pieces.
#pragma once

#include "wic/runtime.h"

constexpr std::uint32_t kTiles = 24;  // of the image
constexpr std::uint32_t kTile = 256;  // floats
constexpr std::uint32_t kPlaces = 2;  // tiles that fit into the buffer
constexpr std::uint32_t kTileBytes = kTile * sizeof(float);

// [sites]
struct TileSites {
  wic::SiteId tiles, space;
};

inline wic::Result<TileSites> declare_tiles(wic::Runtime& runtime) {
  const auto tiles = runtime.add_site({.name = "app.tiles",
                                       .word_memory = wic::WordMemory::pinned_host,
                                       .producer = runtime.device(0).properties().id,
                                       .purpose = wic::SitePurpose::data,
                                       .releasing = wic::kFirstDeviceEnd,
                                       .waiting = wic::kHostEnd});
  if (!tiles) return tiles.error();
  const auto space = runtime.add_site({.name = "app.space",
                                       .word_memory = wic::WordMemory::pinned_host,
                                       .purpose = wic::SitePurpose::acknowledgement,
                                       .releasing = wic::kHostEnd,
                                       .waiting = wic::kFirstDeviceEnd});
  if (!space) return space.error();
  return TileSites{*tiles, *space};
}
// [end]

// [produce]
struct ProduceTiles {
  wic::Site tiles, space;
  float* buffer;               // kPlaces tiles
  std::uint32_t* ready;        // counts the tiles that are written
  const std::uint32_t* taken;  // counts the tiles that the host has taken

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t tile = 1; tile <= kTiles; ++tile) {
      if (tile > kPlaces && !space.wait(thread, tile, taken, wic::AtLeast{tile - kPlaces})) return;
      float* const place = buffer + tile % kPlaces * kTile;
      for (std::uint32_t i = thread.index(); i < kTile; i += thread.block_size()) {
        place[i] = static_cast<float>(tile);
        thread.step();  // a long loop: on the CPU device, other warps take their turns here
      }
      thread.sync_block();
      // The offset in the image, not in the buffer.
      const auto what = wic::Payload::contiguous(std::uint64_t{tile - 1} * kTileBytes, kTileBytes);
      if (thread.index() == 0) tiles.signal(thread, tile, ready, tile, what);
    }
  }
};
// [end]

// [take]
inline wic::Result<float> take_tiles(wic::Runtime& runtime, const TileSites& sites, const float* buffer,
                                     const std::uint32_t* ready, std::uint32_t* taken) {
  float sum = 0;
  for (std::uint32_t tile = 1; tile <= kTiles; ++tile) {
    if (!runtime.wait_until(sites.tiles, tile, ready, wic::AtLeast{tile}, 5 * wic::kSecond)) {
      return wic::unavailable("no tile in time");
    }
    for (std::uint32_t i = 0; i < kTile; ++i) sum += buffer[tile % kPlaces * kTile + i];
    runtime.signal(sites.space, tile, taken, tile);  // the number of the tile that it acknowledges
  }
  return sum;
}
// [end]
