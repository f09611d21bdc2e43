#include <array>
#include <cstdio>

#include "bench/tiles/prediction.h"
#include "bench/tiles/tables.h"
#include "common/options.h"
#include "tiles/vector_pair.h"
#include "wic/launch.h"
#include "wic/tile_chain.h"

namespace wicprof::bench {

Result<> add_vectors(TilesBench& bench, std::uint32_t columns) {
  const wic::TileGrid grid{columns, bench.gpu ? 16u : 4u};
  const std::uint32_t elements = bench.gpu ? 16'384 : 256,
                      blocks = bench.gpu ? bench.device().properties().sm_count : 3;
  const std::size_t count = std::size_t{grid.count()} * elements;
  wic::Array<float> x, y, z;
  for (auto* array : {&x, &y, &z}) {
    if (auto r = allocate(*array, bench.device(), count, wic::Memory::device); !r) return r;
  }
  Mirrored<std::uint32_t> counts;
  if (auto r = counts.allocate(bench.device(), 2 * kLine); !r) return r;
  const sample::tiles::VectorPair data{grid, elements, x.data(), y.data(), z.data(), 3};
  const wic::Row policy{grid};
  const wic::LaunchShape launch_shape{blocks, 128, sizeof(wic::TileTicket)};
  const std::string name = "vector_" + std::to_string(grid.count());
  if (auto r = bench.park_anew(name, 0); !r) return r;
  std::vector<wic::TileChain> chains;
  for (const SiteId site :
       {bench.sites[kPolling], bench.sites[kPolling], bench.sites[kParked], bench.sites[kPolling]}) {
    auto chain =
        wic::TileChain::make(*bench.runtime, 0, site, kTilesTimeoutNs,
                             {{"scale", grid.count(), blocks, policy.semaphores()}, {"add", grid.count(), blocks, 0}});
    if (!chain) return chain.error();
    chains.push_back(*std::move(chain));
  }
  std::uint32_t runs = 0;
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < 3; ++i) {
    wic::TileChain& chain = chains[i];
    const wic::TileStart start = i == 0 ? wic::TileStart::stream_order : wic::TileStart::dependent;
    turns.push_back(
        {"",
         [&, start] {
           ++runs;
           const sample::tiles::ScaleTiles<wic::Row> first{chain.queue(0), {grid, 1}, chain.sync(0, policy), data, 0};
           const sample::tiles::AddMirrored<wic::Row> second{chain.queue(1), {grid, 1},       chain.sync(0, policy),
                                                             data,           counts.device(), counts.device() + kLine};
           return chain.launch(*bench.stream, start,
                               std::array{wic::PlannedLaunch{launch_shape, wic::kernel_ref(first)},
                                          wic::PlannedLaunch{launch_shape, wic::kernel_ref(second)}});
         },
         [&] { return chain.finish(*bench.stream); }});
  }
  // Each kernel alone, which need not read what the other one has written.
  Mirrored<std::uint32_t> unused;
  if (auto r = unused.allocate(bench.device(), 2 * kLine); !r) return r;
  std::vector<Turn> alone{{"",
                           [&] {
                             return wic::launch(*bench.stream, launch_shape,
                                                sample::tiles::ScaleTiles<wic::Row>{
                                                    chains[3].queue(0), {grid, 1}, chains[3].sync(0, policy), data, 0});
                           },
                           {}},
                          {"",
                           [&] {
                             return wic::launch(*bench.stream, launch_shape,
                                                sample::tiles::AddMirrored<wic::Row>{chains[3].queue(1),
                                                                                     {grid, 1},
                                                                                     {policy, nullptr, nullptr, {}},
                                                                                     data,
                                                                                     unused.device(),
                                                                                     unused.device() + kLine});
                           },
                           {}}};
  if (auto r = bench.settle(turns[2]); !r) return r;
  // The order of the tickets makes one pair's time vary by some percent.
  const std::int64_t rounds = 6 * bench.options.rounds;
  if (auto r = bench.measure({&turns[0], &turns[1], &turns[2], &alone[0], &alone[1]}, rounds); !r) return r;
  if (auto r = counts.fetch(*bench.stream); !r) return r;
  if (auto r = bench.stream->synchronize(); !r) return r;
  if (counts[0] != 0 || counts[kLine] != runs * grid.count()) {
    return wicprof::failed(name + ": " + std::to_string(counts[0]) + " numbers were read too early, " +
                           std::to_string(counts[kLine]) + " tiles of " + std::to_string(runs * grid.count()));
  }
  const double stream_ns = turns[0].median_ns(), tiles_ns = turns[1].median_ns();
  bench.claim.add({name + "_tiles",
                   {{"tiles", std::int64_t{grid.count()}},
                    {"waves", static_cast<double>(grid.count()) / blocks},
                    {"stream_us", stream_ns / 1e3}},
                   tiles_ns / 1e3,
                   "us",
                   "the same kernels in stream order",
                   stream_ns / tiles_ns});
  bench.claim.add({name + "_parked",
                   {{"strategy", bench.parked_strategy()}},
                   turns[2].median_ns() / 1e3,
                   "us",
                   "polling tiles; above 1: parked tiles are faster",
                   tiles_ns / turns[2].median_ns()});
  const sample::tiles::LayerTiles tiles{grid.count(), blocks};
  add_prediction(bench, {name, {tiles, tiles}, alone, grid.rows, stream_ns, tiles_ns});
  bench.totals.parked.push_back(tiles_ns / turns[2].median_ns());
  std::fprintf(stderr, "tiles: %s stream %.1f tiles %.1f parked %.1f us\n", name.c_str(), stream_ns / 1e3,
               tiles_ns / 1e3, turns[2].median_ns() / 1e3);
  return ok();
}

}  // namespace wicprof::bench
