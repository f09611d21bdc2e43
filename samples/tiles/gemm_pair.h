// Two dependent matrix products, as GPT-3's feed-forward layer: hidden = gelu(input * first weights), output = hidden *
// second weights. Its plans compute the same bits in several ways: the products one after the other, or tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiles/gemm.h"
#include "wic/runtime.h"

namespace sample::tiles {

/// How the second kernel starts and what its tiles wait for.
enum class Way : std::uint8_t {
  stream_order,      ///< after the first kernel's end
  dependent_launch,  ///< early, without data; its tiles wait for the first kernel's end
  tiles,             ///< early; its tiles wait for tiles
};

/// The tile sizes that were compiled.
enum class TileSize : std::uint8_t { large, square, small, narrow, slim };
std::string name_of(TileSize size);  ///< rows x columns
std::uint32_t rows_of(TileSize size);

struct PairPlan {
  TileSize tile = TileSize::large;
  Way way = Way::stream_order;
  std::uint32_t rows_together = 1;     ///< see wic::TileOrder
  std::uint32_t columns_per_part = 0;  ///< for Way::tiles, see RowParts; 0: whole rows
  std::size_t site = 0;                ///< where tiles wait: one of the sites given to GemmPair::make

  std::string name() const;
};

struct PairSize {
  std::uint32_t batch = 0, input = 0, hidden = 0, output = 0;  ///< multiples of 8, but for the batch

  double operations() const {  ///< multiplications and additions
    return 2.0 * batch * hidden * (static_cast<double>(input) + output);
  }
};

/// Tiles of both products and how many blocks run at once.
struct PairTiles {
  std::uint32_t first, second, at_once;
};

/// Runs pairs of any batch up to the largest. One host thread.
class GemmPair {
 public:
  /// `largest`: of all sizes to come; they differ in their batch alone. Fills the factors with random numbers.
  static wic::Result<std::unique_ptr<GemmPair>> make(wic::Runtime& runtime, std::vector<wic::SiteId> sites,
                                                     std::uint64_t timeout_ns, wic::Stream& stream,
                                                     const PairSize& largest);
  ~GemmPair();

  wic::Result<PairTiles> tiles(const PairPlan& plan, std::uint32_t batch);
  /// Launches both kernels. Does not wait.
  wic::Result<> launch(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch);
  /// Launches one of them (0 or 1), in stream order.
  wic::Result<> launch_one(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch, std::size_t which);
  /// Waits for the stream. Error: a tile of that plan waited too long.
  wic::Result<> finish(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch);

  /// Overwrites the results, runs the plan, and checks its results: every bit against the plan in stream order, and
  /// that one's elements (4,096 of each product, or all of a smaller one) against plain loops. The error says how many
  /// differ.
  wic::Result<> check(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch);

  const Bf16* input() const;
  const Bf16* weights(std::size_t which) const;
  Bf16* hidden() const;
  Bf16* output() const;
  const PairSize& largest() const;

 private:
  struct State;
  explicit GemmPair(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sample::tiles
