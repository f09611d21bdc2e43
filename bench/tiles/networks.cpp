#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "bench/tiles/prediction.h"
#include "bench/tiles/tables.h"

namespace wicprof::bench {

using sample::tiles::ChainPlan;
using sample::tiles::LayerTiles;
using sample::tiles::NetworkChain;
using sample::tiles::Way;

namespace {

struct Shares {  // of the last wave that is full, per layer
  double waves = 0, fill = 0;
};
Shares shares(const LayerTiles& tiles) {
  const double waves = static_cast<double>(tiles.tiles) / tiles.at_once;
  const double rest = waves - std::floor(waves);
  return {waves, rest == 0 ? 1 : rest};
}

Result<> cublas_in_order(TilesBench& bench, NetworkChain& chain, const ChainPlan& plan) {
  for (std::size_t i = 0; i < chain.network().layers.size(); ++i) {
    const Result<> launched =
        chain.network().layers[i].softmax ? chain.launch_one(*bench.stream, plan, i) : bench.cublas->launch(chain, i);
    if (!launched) return launched;
  }
  return ok();
}

}  // namespace

Result<> add_network(TilesBench& bench, const TileShape& shape) {
  std::fprintf(stderr, "tiles: %s\n", shape.name.c_str());
  // In a chain of products alone, one warp of each block waits.
  const auto& layers = shape.network.layers;
  const bool products_only = std::none_of(layers.begin(), layers.end(), [](const auto& l) { return l.softmax; });
  if (auto r = bench.park_anew(shape.name, bench.gpu && products_only ? 1 : 0); !r) return r;
  auto made = NetworkChain::make(*bench.runtime, bench.sites, kTilesTimeoutNs, *bench.stream, shape.network);
  if (!made) return made.error();
  NetworkChain& chain = **made;

  // All plans with few rounds, and then the tuner on the fastest.
  const std::vector<ChainPlan> plans = plans_for(shape, kPolling);
  std::vector<Turn> all;
  for (const ChainPlan& plan : plans) all.push_back(bench.turn_of(chain, plan));
  std::vector<Turn*> pointers;
  for (Turn& turn : all) pointers.push_back(&turn);
  if (auto r = bench.measure(pointers, std::max<std::int64_t>(1, bench.options.rounds / 3)); !r) return r;
  const auto fastest = [&](Way way) {
    std::size_t best = plans.size();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].way == way && (best == plans.size() || all[i].median_ns() < all[best].median_ns())) best = i;
    }
    return best;
  };
  const std::size_t in_order = fastest(Way::stream_order), early = fastest(Way::dependent_launch),
                    tiled = fastest(Way::tiles);
  ChainPlan same = plans[tiled], parked = plans[tiled], asleep = plans[tiled], napping = plans[tiled];
  same.way = Way::stream_order;
  parked.site = kParked;
  asleep.site = kAsleep;
  napping.site = kNapping;
  for (const ChainPlan& plan : {plans[early], plans[tiled], parked, asleep, napping}) {
    if (auto r = chain.check(*bench.stream, plan); !r) return r;
  }
  std::vector<std::size_t> order{in_order};
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i != in_order) others.push_back(i);
  }
  std::sort(others.begin(), others.end(),
            [&](std::size_t a, std::size_t b) { return all[a].median_ns() < all[b].median_ns(); });
  others.resize(std::min<std::size_t>(others.size(), 5));
  order.insert(order.end(), others.begin(), others.end());
  std::vector<std::string> names;
  for (const std::size_t i : order) names.push_back(plans[i].name());
  const std::string key = bench.device().properties().name + ", " + shape.network.name;
  const auto choice = bench.tuner.choose(key, names, [&](std::size_t i) -> Result<double> {
    Turn& turn = all[order[i]];
    if (auto r = bench.measure(turn); !r) return r.error();
    return turn.ns.back();
  });
  if (!choice) return choice.error();
  const std::size_t chosen =
      order[static_cast<std::size_t>(std::find(names.begin(), names.end(), choice->plan) - names.begin())];

  // What the result says, measured anew.
  Turn turn_in_order = bench.turn_of(chain, plans[in_order]), turn_early = bench.turn_of(chain, plans[early]),
       turn_tiled = bench.turn_of(chain, plans[tiled]), turn_same = bench.turn_of(chain, same),
       turn_again = bench.turn_of(chain, plans[tiled]), turn_parked = bench.turn_of(chain, parked),
       turn_asleep = bench.turn_of(chain, asleep), turn_napping = bench.turn_of(chain, napping),
       turn_other = bench.turn_of(chain, plans[chosen]);
  const bool chose_order = chosen == in_order, chose_early = chosen == early, chose_tiled = chosen == tiled;
  std::vector<Turn> alone;
  for (std::size_t i = 0; i < shape.network.layers.size(); ++i) {
    alone.push_back({"", [&bench, &chain, &same, i] { return chain.launch_one(*bench.stream, same, i); }, {}});
  }
  Turn turn_cublas{"cublas", [&bench, &chain, &same] { return cublas_in_order(bench, chain, same); }, {}};
  if (auto r = bench.settle(turn_parked); !r) return r;
  std::vector<Turn*> turns{&turn_in_order, &turn_early,  &turn_tiled,   &turn_again,
                           &turn_parked,   &turn_asleep, &turn_napping, &turn_same};
  if (!chose_order && !chose_early && !chose_tiled) turns.push_back(&turn_other);
  for (Turn& turn : alone) turns.push_back(&turn);
  if (bench.cublas) turns.push_back(&turn_cublas);
  if (auto r = bench.measure(turns, bench.options.rounds); !r) return r;

  const Turn& turn_chosen = chose_order   ? turn_in_order
                            : chose_early ? turn_early
                            : chose_tiled ? turn_tiled
                                          : turn_other;
  const auto tiles = chain.tiles(same);
  if (!tiles) return tiles.error();
  const double stream_ns = turn_in_order.median_ns(), same_ns = turn_same.median_ns(),
               tiles_ns = turn_tiled.median_ns();
  const double gain = same_ns / tiles_ns;
  std::map<std::string, Parameter> params{{"shape", shape.network.name},
                                          {"plan", plans[tiled].name()},
                                          {"same_kernels_us", same_ns / 1e3},
                                          {"stream_plan", plans[in_order].name()},
                                          {"stream_us", stream_ns / 1e3},
                                          {"dependent_plan", plans[early].name()},
                                          {"dependent_us", turn_early.median_ns() / 1e3},
                                          {"tflops", shape.network.operations() / stream_ns / 1e3},
                                          {"first_tiles", std::int64_t{(*tiles)[0].tiles}},
                                          {"first_waves", shares((*tiles)[0]).waves},
                                          {"second_waves", shares((*tiles)[1]).waves},
                                          {"rounds", bench.options.rounds}};
  for (std::size_t i = 0; i < alone.size(); ++i) {
    params["kernel_" + std::to_string(i + 1) + "_us"] = alone[i].median_ns() / 1e3;
  }
  if (bench.cublas) {
    params["cublas_us"] = turn_cublas.median_ns() / 1e3;
    bench.claim.add({shape.name + "_cublas",
                     {{"shape", shape.network.name}},
                     turn_cublas.median_ns() / 1e3,
                     "us",
                     "cuBLAS's time over that of the fastest plan in stream order",
                     turn_cublas.median_ns() / stream_ns});
    if (shape.kind == "mlp") bench.totals.cublas.push_back(turn_cublas.median_ns() / stream_ns);
  }
  bench.claim.add({shape.name + "_tiles", params, tiles_ns / 1e3, "us", "the same kernels in stream order", gain});
  bench.claim.add({shape.name + "_parked",
                   {{"plan", parked.name()},
                    {"strategy", bench.parked_strategy()},
                    {"polling_over_itself", tiles_ns / turn_again.median_ns()}},
                   turn_parked.median_ns() / 1e3,
                   "us",
                   "polling tiles; above 1: parked tiles are faster",
                   tiles_ns / turn_parked.median_ns()});
  bench.claim.add({shape.name + "_asleep",
                   {{"plan", asleep.name()}},
                   turn_asleep.median_ns() / 1e3,
                   "us",
                   "polling tiles; above 1: tiles parked with predicted_sleep are faster",
                   tiles_ns / turn_asleep.median_ns()});
  bench.claim.add({shape.name + "_napping",
                   {{"plan", napping.name()}},
                   turn_napping.median_ns() / 1e3,
                   "us",
                   "polling tiles; above 1: tiles parked with leader_bar_sync are faster",
                   tiles_ns / turn_napping.median_ns()});
  bench.totals.napping.push_back(tiles_ns / turn_napping.median_ns());
  bench.totals.again.push_back(tiles_ns / turn_again.median_ns());
  bench.totals.asleep.push_back(tiles_ns / turn_asleep.median_ns());
  bench.claim.add({shape.name + "_tuned",
                   {{"plan", choice->plan}},
                   turn_chosen.median_ns() / 1e3,
                   "us",
                   "the fastest plan in stream order",
                   stream_ns / turn_chosen.median_ns()});
  add_prediction(bench, {shape.name, *tiles, alone, (layers[0].size.rows + 127) / 128, same_ns, tiles_ns});
  const Shares first = shares((*tiles)[0]);
  if (shape.kind == "mlp" && first.waves > 1 && first.fill < 0.75) bench.totals.fractional.push_back(gain);
  bench.totals.parked.push_back(tiles_ns / turn_parked.median_ns());
  bench.totals.tuned.push_back(stream_ns / turn_chosen.median_ns());
  bench.totals.tuned_of[shape.kind].push_back(bench.totals.tuned.back());
  std::fprintf(stderr,
               "  stream %.1f, same %.1f, dependent %.1f, tiles %.1f (%.3f), parked %.1f, tuned %s, cublas %.1f us\n",
               stream_ns / 1e3, same_ns / 1e3, turn_early.median_ns() / 1e3, tiles_ns / 1e3, gain,
               turn_parked.median_ns() / 1e3, choice->plan.c_str(), turn_cublas.median_ns() / 1e3);
  return ok();
}

}  // namespace wicprof::bench
