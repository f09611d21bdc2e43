// What tiles should gain over stream order, beside what they gain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/tiles/bench.h"

namespace wicprof::bench {

/// What was measured of a chain. Both vectors: per kernel.
struct ChainTimes {
  std::string name;
  std::vector<sample::tiles::LayerTiles> tiles;
  const std::vector<Turn>& alone;  ///< each kernel by itself
  std::uint32_t groups;            ///< see analyzer::KernelPair
  double stream_ns, tiles_ns;      ///< of the same kernels in stream order, and tile by tile
};

/// Predicts the gain of tiles from the kernels' waves and their times in stream order: the sum over neighbouring
/// kernels (analyzer/work/tile_gain.h). Adds a row, and the error to the totals.
void add_prediction(TilesBench& bench, const ChainTimes& chain);

}  // namespace wicprof::bench
