#include "bench/tiles/prediction.h"

#include <algorithm>
#include <cmath>

#include "analyzer/work/tile_gain.h"

namespace wicprof::bench {

namespace {

double predicted_ns(TilesBench& bench, const ChainTimes& chain) {
  const std::uint32_t sm_count = bench.device().properties().sm_count;
  const auto waved = [&](std::size_t i) -> analyzer::WavedKernel {
    return {chain.tiles[i].tiles, std::max(1u, chain.tiles[i].at_once / sm_count),
            std::max(1.0, chain.alone[i].median_ns() - bench.launch_ns)};
  };
  double gain = 0;
  for (std::size_t i = 0; i + 1 < chain.alone.size(); ++i) {
    analyzer::KernelPair pair;
    pair.producer = waved(i);
    pair.consumer = waved(i + 1);
    pair.sm_count = sm_count;
    pair.gap_ns = bench.launch_ns;
    pair.groups = chain.groups;
    if (const auto predicted = analyzer::pair_gain(pair)) gain += predicted->tiles.value;
  }
  return gain;
}

}  // namespace

void add_prediction(TilesBench& bench, const ChainTimes& chain) {
  const double measured = chain.stream_ns / chain.tiles_ns;
  const double predicted = chain.stream_ns / std::max(1.0, chain.stream_ns - predicted_ns(bench, chain));
  bench.claim.add({chain.name + "_predicted",
                   {{"measured", measured}},
                   predicted,
                   "1",
                   "the measured gain over the same kernels",
                   predicted / measured});
  const double error = std::abs(predicted / measured - 1);
  bench.totals.prediction_errors.push_back(error);
  if (measured >= 1.05) bench.totals.prediction_errors_of_gains.push_back(error);
}

}  // namespace wicprof::bench
