// Runs a network (network.h) on a device. Its plans compute the same bits in several ways: the layers one after the
// other, or tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiles/network.h"
#include "wic/runtime.h"

namespace sample::tiles {

/// How the kernels after the first one start and what their tiles wait for.
enum class Way : std::uint8_t {
  stream_order,      ///< after the kernel before has ended
  dependent_launch,  ///< early, without data; their tiles wait for the end of the kernel before
  tiles,             ///< early; their tiles wait for tiles
};

/// Which tiles of a layer share a semaphore.
enum class Share : std::uint8_t {
  row,    ///< those of a row (wic::Row)
  slice,  ///< equal columns of all slices of a row (wic::Strided); without slices, as for tile
  tile,   ///< none (wic::Tile), or as few as a consumer's step needs
};

/// The tile sizes that were compiled.
enum class TileSize : std::uint8_t { large, square, tall, flat, small, narrow, slim };
inline constexpr TileSize kTileSizes[] = {TileSize::large, TileSize::square, TileSize::tall, TileSize::flat,
                                          TileSize::small, TileSize::narrow, TileSize::slim};
std::string name_of(TileSize size);  ///< rows x columns

struct ChainPlan {
  TileSize tile = TileSize::large;  ///< of products; those per head have their own
  Way way = Way::stream_order;
  Share share = Share::row;         ///< for Way::tiles
  std::uint32_t rows_together = 1;  ///< see wic::TileOrder
  /// MiB of weights that kernels which start early bring to the L2 cache before their first wait.
  std::uint32_t ahead_mib = 0;
  std::size_t site = 0;  ///< where tiles wait: one of the sites given to NetworkChain::make

  std::string name() const;
};

/// Tiles of a layer, and how many blocks run at once.
struct LayerTiles {
  std::uint32_t tiles = 0, at_once = 0;
};

/// One host thread.
class NetworkChain {
 public:
  /// Fills the matrices that no layer computes with random numbers.
  static wic::Result<std::unique_ptr<NetworkChain>> make(wic::Runtime& runtime, std::vector<wic::SiteId> sites,
                                                         std::uint64_t timeout_ns, wic::Stream& stream,
                                                         const Network& network);
  ~NetworkChain();

  const Network& network() const;
  /// Per layer.
  wic::Result<std::vector<LayerTiles>> tiles(const ChainPlan& plan);
  /// Launches all layers. Does not wait.
  wic::Result<> launch(wic::Stream& stream, const ChainPlan& plan);
  /// Launches one of them, in stream order.
  wic::Result<> launch_one(wic::Stream& stream, const ChainPlan& plan, std::size_t layer);
  /// Waits for the stream. Error: a tile of that plan waited too long.
  wic::Result<> finish(wic::Stream& stream, const ChainPlan& plan);

  /// Overwrites the results, runs the plan, and checks its results: every bit against the plan in stream order, and
  /// that one's elements (4,096 of each layer, or all of a smaller one) against plain loops. The error says how many
  /// differ.
  wic::Result<> check(wic::Stream& stream, const ChainPlan& plan);

  /// In device memory.
  Bf16* matrix(std::size_t index) const;

 private:
  struct State;
  explicit NetworkChain(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sample::tiles
