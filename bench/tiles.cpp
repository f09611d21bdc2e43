// Dependent kernels one after the other, by dependent launch, and tile by tile (wic/tiles.h), at the shapes of the
// cuSync paper: parts of GPT-3 and ResNet-38, and pairs of vector kernels. Per shape, in one run and in turns: the
// fastest plan in stream order, the fastest one by dependent launch, the fastest one tile by tile, the same with parked
// tiles, that plan's kernels in stream order, the tuner's choice, and cuBLAS's products in stream order.
//
// Tables: `shapes` (the networks; `--shapes mlp_7` selects those that begin so), `vector`, `neighbours` (a kernel
// beside polling and parked tiles), `launches` (random chains beside a kernel that holds SMs), `faults` (chains that
// break the rules). What the gain of tiles should be is predicted from the kernels' waves and times in stream order
// (analyzer/work/tile_gain.h).
#if defined(BENCH_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "analyzer/work/tile_gain.h"
#include "bench/claim.h"
#include "bench/tiles/cublas_products.h"
#include "bench/tiles/gated_timer.h"
#include "bench/tiles/random_chains.h"
#include "bench/tiles/shapes.h"
#include "bench/work_memory.h"
#include "common/options.h"
#include "tiles/vector_pair.h"
#include "wic/launch.h"
#include "wic/tile_chain.h"
#include "wic/tile_tuner.h"

namespace {

using namespace wicprof::bench;
using sample::tiles::ChainPlan;
using sample::tiles::LayerTiles;
using sample::tiles::NetworkChain;
using sample::tiles::Way;
using wicprof::ok;
using wicprof::Result;
using wicprof::SiteId;
using wicprof::TimeNs;

constexpr std::uint64_t kTimeout = 5'000'000'000;
constexpr std::chrono::milliseconds kSettling{250};
constexpr double kLeastSpanNs = 150'000;  // of one measurement
// Indices of the sites: the program's own polling, `auto`, a strategy that sleeps for as long as waits usually last,
// and a leader that polls less often the longer a wait lasts.
constexpr std::size_t kPolling = 0, kParked = 1, kAsleep = 2, kNapping = 3;

struct Options {
  std::string devices, only, shapes, cublas, choices;
  std::int64_t rounds = 0, launches = 0, launch_seconds = 0, faults = 0;
};

// Nothing to compute: what a launch costs in a stream. As large an argument as a product's.
struct NoWork {
  std::array<std::uint64_t, 128> argument{};
  WIC_DEVICE void operator()(const wic::Thread&) const {}
};

template <Bound kBound>
struct NeighbourKernel {
  Work work;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    work.run<kBound>(thread, thread.block(), thread.block_count(), thread.index(), thread.block_size());
  }
};

// A way to run a chain, and its times.
struct Turn {
  std::string name;
  std::function<Result<>()> launch, finish;
  std::uint32_t calls = 1;
  std::vector<double> ns = {};
  double median_ns() const { return median(ns); }
};

// What all shapes say together.
struct Totals {
  std::vector<double> fractional, tuned, parked, asleep, napping, again, prediction_errors, prediction_errors_of_gains,
      cublas;
  std::map<std::string, std::vector<double>> tuned_of;  // by kind
};

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}
double least(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

class TilesBench {
 public:
  TilesBench(const Options& options, Claim& claim) : options_(options), claim_(claim) {}

  Result<> run() {
    if (auto r = prepare(); !r) return r;
    const auto wanted = [this](const char* table) {
      return ("," + options_.only + ",").find("," + std::string(table) + ",") != std::string::npos;
    };
    if (wanted("shapes")) {
      for (const TileShape& shape : tile_shapes(!gpu_)) {
        if (!shape.name.starts_with(options_.shapes)) continue;
        if (auto r = one_shape(shape); !r) {
          std::fprintf(stderr, "tiles: %s\n", r.error().message.c_str());
          claim_.add({shape.name + "_failed", {{"error", r.error().message}}, 0, "", "1: nothing failed", 0, 1.0});
        }
      }
    }
    if (wanted("vector")) {
      for (const std::uint32_t columns : gpu_ ? std::vector{25u, 17u, 13u, 9u} : std::vector{5u}) {
        if (auto r = one_vector(columns); !r) return r;
      }
    }
    add_totals();
    if (wanted("neighbours")) {
      if (auto r = neighbours(); !r) return r;
    }
    if (wanted("launches")) {
      if (auto r = launches(); !r) return r;
    }
    if (wanted("faults")) {
      if (auto r = faults(); !r) return r;
    }
    return tuner_.save(options_.choices);
  }

 private:
  Result<> prepare() {
    if (auto r = open(runtime_, options_.devices); !r) return r;
    gpu_ = device().properties().kind == wicprof::DeviceKind::cuda;
    for (const char* name : {"bench.polling", "bench.parked", "bench.asleep", "bench.napping"}) {
      const auto site = runtime_->add_site({name, wicprof::WordMemory::device});
      if (!site) return site.error();
      sites_.push_back(*site);
    }
    for (const auto& [site, strategy] :
         {std::pair{kParked, wicprof::StrategyId::automatic}, std::pair{kAsleep, wicprof::StrategyId::predicted_sleep},
          std::pair{kNapping, wicprof::StrategyId::leader_bar_sync}}) {
      if (auto r = runtime_->set_wait(sites_[site], {wicprof::Mode::park, strategy}); !r) return r;
    }
    if (auto r = make_stream(); !r) return r;
    if (auto r = timer_.prepare(device(), *stream_); !r) return r;
    // A launch behind another one.
    const auto nothing = [this] { return wic::launch(*stream_, {1, 32}, NoWork{}); };
    if (auto r = nothing(); !r) return r;
    std::vector<double> gaps;
    for (int i = 0; i < 5; ++i) {
      const auto gap = timer_.ns(50, nothing);
      if (!gap) return gap.error();
      gaps.push_back(*gap);
    }
    launch_ns_ = median(gaps);
    claim_.add({"launch", {}, launch_ns_ / 1e3, "us per empty kernel"});
    return ok();
  }

  Result<> make_stream() {
    void* own = nullptr;
#if defined(BENCH_HAVE_CUDA)
    if (gpu_) {
      cudaStream_t stream = nullptr;
      if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        return wicprof::unavailable("no CUDA stream could be made");
      }
      own = stream;
    }
#endif
    auto stream = own != nullptr ? device().use_stream(own) : device().make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    if (!gpu_) return ok();
    auto cublas = CublasProducts::open(options_.cublas, own);
    if (cublas) {
      cublas_ = *std::move(cublas);
      // As large as the largest left factor of a convolution.
      constexpr std::size_t kNumbers = std::size_t{32} * 56 * 56 * 9 * 64;
      if (auto r = allocate(implicit_, device(), kNumbers, wic::Memory::device); !r) return r;
      cublas_->use_for_convolutions(implicit_.data());
    } else {
      std::fprintf(stderr, "tiles: %s\n", cublas.error().message.c_str());
      claim_.add({"cublas_could_not_look", {{"reason", cublas.error().message}}, 0, ""});
    }
    return ok();
  }

  wic::Device& device() { return runtime_->device(0); }

  Result<> measure(Turn& turn) {
    const auto ns = timer_.ns(turn.calls, turn.launch);
    if (!ns) return ns.error();
    if (turn.finish) {
      if (auto r = turn.finish(); !r) return r;
    }
    turn.ns.push_back(*ns);
    if (gpu_) std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(*ns * turn.calls)));
    return ok();
  }

  /// A new site for `auto`, which has not seen the waits of another shape. `group_warps`: see SiteSpec.
  Result<> park_anew(const std::string& shape, std::uint32_t group_warps) {
    const auto site = runtime_->add_site(
        {.name = "bench.parked." + shape, .word_memory = wicprof::WordMemory::device, .group_warps = group_warps});
    if (!site) return site.error();
    sites_[kParked] = *site;
    return runtime_->set_wait(*site, {wicprof::Mode::park, wicprof::StrategyId::automatic});
  }
  /// Runs a chain until `auto` has seen enough of its waits.
  Result<> settle(Turn& turn) {
    const auto end = std::chrono::steady_clock::now() + kSettling;
    while (gpu_ && std::chrono::steady_clock::now() < end) {
      if (auto r = measure(turn); !r) return r;
    }
    turn.ns.clear();
    return ok();
  }

  /// All of them in turn, each round in another order; the first round warms up. The device rests as long as it works:
  /// its clock falls when it does nothing but multiply.
  Result<> measure(std::vector<Turn*> turns, std::int64_t rounds) {
    for (Turn* turn : turns) {
      if (auto r = turn->launch(); !r) return r;
      if (auto r = stream_->synchronize(); !r) return r;
      if (auto r = measure(*turn); !r) return r;
      turn->calls = static_cast<std::uint32_t>(std::clamp(kLeastSpanNs / turn->ns[0], 1.0, 12.0));
      turn->ns.clear();
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      std::shuffle(turns.begin(), turns.end(), random_);
      for (Turn* turn : turns) {
        if (auto r = measure(*turn); !r) return r;
      }
    }
    return ok();
  }

  Turn turn_of(NetworkChain& chain, const ChainPlan& plan) {
    return {plan.name(), [this, &chain, plan] { return chain.launch(*stream_, plan); },
            [this, &chain, plan] { return chain.finish(*stream_, plan); }};
  }

  struct Shares {  // of the last wave that is full, per layer
    double waves = 0, fill = 0;
  };
  static Shares shares(const LayerTiles& tiles) {
    const double waves = static_cast<double>(tiles.tiles) / tiles.at_once;
    const double rest = waves - std::floor(waves);
    return {waves, rest == 0 ? 1 : rest};
  }

  /// A kernel's waves and its time in stream order.
  wicprof::analyzer::WavedKernel waved(const LayerTiles& tiles, const Turn& alone) {
    return {tiles.tiles, std::max(1u, tiles.at_once / device().properties().sm_count),
            std::max(1.0, alone.median_ns() - launch_ns_)};
  }
  /// What tiles should gain over stream order: the sum over neighbouring kernels. Both vectors: per kernel. `groups`:
  /// see KernelPair.
  double predicted_ns(const std::vector<LayerTiles>& tiles, const std::vector<Turn>& alone, std::uint32_t groups) {
    double gain = 0;
    for (std::size_t i = 0; i + 1 < alone.size(); ++i) {
      wicprof::analyzer::KernelPair pair;
      pair.producer = waved(tiles[i], alone[i]);
      pair.consumer = waved(tiles[i + 1], alone[i + 1]);
      pair.sm_count = device().properties().sm_count;
      pair.gap_ns = launch_ns_;
      pair.groups = groups;
      if (const auto predicted = wicprof::analyzer::pair_gain(pair)) gain += predicted->tiles.value;
    }
    return gain;
  }
  void add_prediction(const std::string& name, double stream_ns, double predicted_ns, double gain) {
    const double predicted_gain = stream_ns / std::max(1.0, stream_ns - predicted_ns);
    claim_.add({name + "_predicted",
                {{"measured", gain}},
                predicted_gain,
                "1",
                "the measured gain over the same kernels",
                predicted_gain / gain});
    totals_.prediction_errors.push_back(std::abs(predicted_gain / gain - 1));
    if (gain >= 1.05) totals_.prediction_errors_of_gains.push_back(std::abs(predicted_gain / gain - 1));
  }

  Result<> one_shape(const TileShape& shape) {
    std::fprintf(stderr, "tiles: %s\n", shape.name.c_str());
    // In a chain of products alone, one warp of each block waits.
    const auto& layers = shape.network.layers;
    const bool products_only = std::none_of(layers.begin(), layers.end(), [](const auto& l) { return l.softmax; });
    if (auto r = park_anew(shape.name, gpu_ && products_only ? 1 : 0); !r) return r;
    auto made = NetworkChain::make(*runtime_, sites_, kTimeout, *stream_, shape.network);
    if (!made) return made.error();
    NetworkChain& chain = **made;

    // All plans with few rounds, and then the tuner on the fastest.
    const std::vector<ChainPlan> plans = plans_for(shape, kPolling);
    std::vector<Turn> all;
    for (const ChainPlan& plan : plans) all.push_back(turn_of(chain, plan));
    std::vector<Turn*> pointers;
    for (Turn& turn : all) pointers.push_back(&turn);
    if (auto r = measure(pointers, std::max<std::int64_t>(1, options_.rounds / 3)); !r) return r;
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
      if (auto r = chain.check(*stream_, plan); !r) return r;
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
    const std::string key = device().properties().name + ", " + shape.network.name;
    const auto choice = tuner_.choose(key, names, [&](std::size_t i) -> Result<double> {
      Turn& turn = all[order[i]];
      if (auto r = measure(turn); !r) return r.error();
      return turn.ns.back();
    });
    if (!choice) return choice.error();
    const std::size_t chosen =
        order[static_cast<std::size_t>(std::find(names.begin(), names.end(), choice->plan) - names.begin())];

    // What the result says, measured anew.
    Turn turn_in_order = turn_of(chain, plans[in_order]), turn_early = turn_of(chain, plans[early]),
         turn_tiled = turn_of(chain, plans[tiled]), turn_same = turn_of(chain, same),
         turn_again = turn_of(chain, plans[tiled]), turn_parked = turn_of(chain, parked),
         turn_asleep = turn_of(chain, asleep), turn_napping = turn_of(chain, napping),
         turn_other = turn_of(chain, plans[chosen]);
    const bool chose_order = chosen == in_order, chose_early = chosen == early, chose_tiled = chosen == tiled;
    std::vector<Turn> alone;
    for (std::size_t i = 0; i < shape.network.layers.size(); ++i) {
      alone.push_back({"", [this, &chain, &same, i] { return chain.launch_one(*stream_, same, i); }, {}});
    }
    Turn turn_cublas{"cublas", [this, &chain, &same] { return cublas_in_order(chain, same); }, {}};
    if (auto r = settle(turn_parked); !r) return r;
    std::vector<Turn*> turns{&turn_in_order, &turn_early,  &turn_tiled,   &turn_again,
                             &turn_parked,   &turn_asleep, &turn_napping, &turn_same};
    if (!chose_order && !chose_early && !chose_tiled) turns.push_back(&turn_other);
    for (Turn& turn : alone) turns.push_back(&turn);
    if (cublas_) turns.push_back(&turn_cublas);
    if (auto r = measure(turns, options_.rounds); !r) return r;

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
                                            {"rounds", options_.rounds}};
    for (std::size_t i = 0; i < alone.size(); ++i) {
      params["kernel_" + std::to_string(i + 1) + "_us"] = alone[i].median_ns() / 1e3;
    }
    if (cublas_) {
      params["cublas_us"] = turn_cublas.median_ns() / 1e3;
      claim_.add({shape.name + "_cublas",
                  {{"shape", shape.network.name}},
                  turn_cublas.median_ns() / 1e3,
                  "us",
                  "cuBLAS's time over that of the fastest plan in stream order",
                  turn_cublas.median_ns() / stream_ns});
      if (shape.kind == "mlp") totals_.cublas.push_back(turn_cublas.median_ns() / stream_ns);
    }
    claim_.add({shape.name + "_tiles", params, tiles_ns / 1e3, "us", "the same kernels in stream order", gain});
    claim_.add({shape.name + "_parked",
                {{"plan", parked.name()},
                 {"strategy", std::string(wicprof::strategy_name(runtime_->strategy(sites_[kParked])))},
                 {"polling_over_itself", tiles_ns / turn_again.median_ns()}},
                turn_parked.median_ns() / 1e3,
                "us",
                "polling tiles; above 1: parked tiles are faster",
                tiles_ns / turn_parked.median_ns()});
    claim_.add({shape.name + "_asleep",
                {{"plan", asleep.name()}},
                turn_asleep.median_ns() / 1e3,
                "us",
                "polling tiles; above 1: tiles parked with predicted_sleep are faster",
                tiles_ns / turn_asleep.median_ns()});
    claim_.add({shape.name + "_napping",
                {{"plan", napping.name()}},
                turn_napping.median_ns() / 1e3,
                "us",
                "polling tiles; above 1: tiles parked with leader_bar_sync are faster",
                tiles_ns / turn_napping.median_ns()});
    totals_.napping.push_back(tiles_ns / turn_napping.median_ns());
    totals_.again.push_back(tiles_ns / turn_again.median_ns());
    totals_.asleep.push_back(tiles_ns / turn_asleep.median_ns());
    claim_.add({shape.name + "_tuned",
                {{"plan", choice->plan}},
                turn_chosen.median_ns() / 1e3,
                "us",
                "the fastest plan in stream order",
                stream_ns / turn_chosen.median_ns()});
    add_prediction(shape.name, same_ns, predicted_ns(*tiles, alone, (shape.network.layers[0].size.rows + 127) / 128),
                   gain);
    const Shares first = shares((*tiles)[0]);
    if (shape.kind == "mlp" && first.waves > 1 && first.fill < 0.75) totals_.fractional.push_back(gain);
    totals_.parked.push_back(tiles_ns / turn_parked.median_ns());
    totals_.tuned.push_back(stream_ns / turn_chosen.median_ns());
    totals_.tuned_of[shape.kind].push_back(totals_.tuned.back());
    std::fprintf(stderr,
                 "  stream %.1f, same %.1f, dependent %.1f, tiles %.1f (%.3f), parked %.1f, tuned %s, cublas %.1f us\n",
                 stream_ns / 1e3, same_ns / 1e3, turn_early.median_ns() / 1e3, tiles_ns / 1e3, gain,
                 turn_parked.median_ns() / 1e3, choice->plan.c_str(), turn_cublas.median_ns() / 1e3);
    return ok();
  }

  Result<> cublas_in_order(NetworkChain& chain, const ChainPlan& plan) {
    for (std::size_t i = 0; i < chain.network().layers.size(); ++i) {
      const Result<> launched =
          chain.network().layers[i].softmax ? chain.launch_one(*stream_, plan, i) : cublas_->launch(chain, i);
      if (!launched) return launched;
    }
    return ok();
  }

  // Two vector kernels, of `columns` x 16 tiles on a GPU.
  Result<> one_vector(std::uint32_t columns) {
    const wic::TileGrid grid{columns, gpu_ ? 16u : 4u};
    const std::uint32_t elements = gpu_ ? 16'384 : 256, blocks = gpu_ ? device().properties().sm_count : 3;
    const std::size_t count = std::size_t{grid.count()} * elements;
    wic::Array<float> x, y, z;
    for (auto* array : {&x, &y, &z}) {
      if (auto r = allocate(*array, device(), count, wic::Memory::device); !r) return r;
    }
    Mirrored<std::uint32_t> counts;
    if (auto r = counts.allocate(device(), 2 * kLine); !r) return r;
    const sample::tiles::VectorPair data{grid, elements, x.data(), y.data(), z.data(), 3};
    const wic::Row policy{grid};
    const wic::LaunchShape launch_shape{blocks, 128, sizeof(wic::TileTicket)};
    const std::string name = "vector_" + std::to_string(grid.count());
    if (auto r = park_anew(name, 0); !r) return r;
    std::vector<wic::TileChain> chains;
    for (const SiteId site : {sites_[kPolling], sites_[kPolling], sites_[kParked], sites_[kPolling]}) {
      auto chain = wic::TileChain::make(
          *runtime_, 0, site, kTimeout,
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
             const sample::tiles::AddMirrored<wic::Row> second{
                 chain.queue(1), {grid, 1}, chain.sync(0, policy), data, counts.device(), counts.device() + kLine};
             return chain.launch(*stream_, start,
                                 std::array{wic::PlannedLaunch{launch_shape, wic::kernel_ref(first)},
                                            wic::PlannedLaunch{launch_shape, wic::kernel_ref(second)}});
           },
           [&] { return chain.finish(*stream_); }});
    }
    // Each kernel alone, which need not read what the other one has written.
    Mirrored<std::uint32_t> unused;
    if (auto r = unused.allocate(device(), 2 * kLine); !r) return r;
    std::vector<Turn> alone{
        {"",
         [&] {
           return wic::launch(
               *stream_, launch_shape,
               sample::tiles::ScaleTiles<wic::Row>{chains[3].queue(0), {grid, 1}, chains[3].sync(0, policy), data, 0});
         },
         {}},
        {"",
         [&] {
           return wic::launch(*stream_, launch_shape,
                              sample::tiles::AddMirrored<wic::Row>{chains[3].queue(1),
                                                                   {grid, 1},
                                                                   {policy, nullptr, nullptr, {}},
                                                                   data,
                                                                   unused.device(),
                                                                   unused.device() + kLine});
         },
         {}}};
    if (auto r = settle(turns[2]); !r) return r;
    if (auto r = measure({&turns[0], &turns[1], &turns[2], &alone[0], &alone[1]}, options_.rounds); !r) return r;
    if (auto r = counts.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    if (counts[0] != 0 || counts[kLine] != runs * grid.count()) {
      return wicprof::failed(name + ": " + std::to_string(counts[0]) + " numbers were read too early, " +
                             std::to_string(counts[kLine]) + " tiles of " + std::to_string(runs * grid.count()));
    }
    const double stream_ns = turns[0].median_ns(), tiles_ns = turns[1].median_ns();
    claim_.add({name + "_tiles",
                {{"tiles", std::int64_t{grid.count()}},
                 {"waves", static_cast<double>(grid.count()) / blocks},
                 {"stream_us", stream_ns / 1e3}},
                tiles_ns / 1e3,
                "us",
                "the same kernels in stream order",
                stream_ns / tiles_ns});
    claim_.add({name + "_parked",
                {{"strategy", std::string(wicprof::strategy_name(runtime_->strategy(sites_[kParked])))}},
                turns[2].median_ns() / 1e3,
                "us",
                "polling tiles; above 1: parked tiles are faster",
                tiles_ns / turns[2].median_ns()});
    const LayerTiles tiles{grid.count(), blocks};
    add_prediction(name, stream_ns, predicted_ns({tiles, tiles}, alone, grid.rows), stream_ns / tiles_ns);
    totals_.parked.push_back(tiles_ns / turns[2].median_ns());
    std::fprintf(stderr, "tiles: %s stream %.1f tiles %.1f parked %.1f us\n", name.c_str(), stream_ns / 1e3,
                 tiles_ns / 1e3, turns[2].median_ns() / 1e3);
    return ok();
  }

  void add_totals() {
    const auto count = [](const std::vector<double>& values) -> std::map<std::string, Parameter> {
      return {{"shapes", static_cast<std::int64_t>(values.size())}};
    };
    if (!totals_.fractional.empty()) {
      const double mean = geometric_mean(totals_.fractional);
      claim_.add(
          {"mlp_fractional_mean", count(totals_.fractional), mean, "geometric mean of gains",
           "the same kernels in stream order; shapes whose first kernel's last wave, after a full one, is less than "
           "three quarters full",
           mean, 1.10});
    }
    if (!totals_.tuned.empty()) {
      const double worst = least(totals_.tuned), mean = geometric_mean(totals_.tuned);
      claim_.add({"tuned_worst", count(totals_.tuned), worst, "least gain of the tuner's choices",
                  "the fastest plan in stream order", worst, 0.99});
      claim_.add({"tuned_mean", count(totals_.tuned), mean, "geometric mean of the tuner's gains",
                  "the fastest plan in stream order; cuSync's means are 1.04 to 1.12", mean, 1.04});
      for (const auto& [kind, gains] : totals_.tuned_of) {
        const double kind_mean = geometric_mean(gains);
        claim_.add({"tuned_mean_" + kind, count(gains), kind_mean, "geometric mean of the tuner's gains",
                    "the fastest plan in stream order", kind_mean});
      }
    }
    if (!totals_.parked.empty()) {
      const double mean = geometric_mean(totals_.parked);
      claim_.add({"parked_mean",
                  {{"shapes", static_cast<std::int64_t>(totals_.parked.size())}, {"least", least(totals_.parked)}},
                  mean,
                  "geometric mean",
                  "polling tiles; above 1: parked tiles are faster",
                  mean,
                  1.0});
    }
    if (!totals_.asleep.empty()) {
      const double mean = geometric_mean(totals_.asleep);
      claim_.add({"asleep_mean",
                  {{"shapes", static_cast<std::int64_t>(totals_.asleep.size())}, {"least", least(totals_.asleep)}},
                  mean,
                  "geometric mean",
                  "polling tiles; above 1: tiles parked with predicted_sleep are faster",
                  mean,
                  1.0});
    }
    if (!totals_.napping.empty()) {
      const double mean = geometric_mean(totals_.napping);
      claim_.add({"napping_mean",
                  {{"shapes", static_cast<std::int64_t>(totals_.napping.size())}, {"least", least(totals_.napping)}},
                  mean,
                  "geometric mean",
                  "polling tiles; above 1: tiles parked with leader_bar_sync are faster",
                  mean});
    }
    if (!totals_.again.empty()) {
      std::vector<double> distances;
      for (const double ratio : totals_.again) distances.push_back(std::abs(ratio - 1));
      std::sort(distances.begin(), distances.end());
      claim_.add({"polling_over_itself",
                  {{"shapes", static_cast<std::int64_t>(totals_.again.size())},
                   {"distance_from_1_median", median(distances)},
                   {"distance_from_1_largest", distances.back()}},
                  geometric_mean(totals_.again),
                  "geometric mean",
                  "the same polling tiles, measured in turn",
                  geometric_mean(totals_.again)});
    }
    if (!totals_.prediction_errors.empty()) {
      const double middle = median(totals_.prediction_errors);
      claim_.add({"prediction_error_median", count(totals_.prediction_errors), middle, "of the measured gain",
                  "the measured gain; the ratio is the error", middle, 0.10, true});
    }
    if (!totals_.prediction_errors_of_gains.empty()) {
      const double middle = median(totals_.prediction_errors_of_gains);
      claim_.add({"prediction_error_median_of_gains", count(totals_.prediction_errors_of_gains), middle,
                  "of the measured gain, where it is 1.05 or more", "the measured gain; the ratio is the error", middle,
                  0.10, true});
    }
    if (!totals_.cublas.empty()) {
      const double worst = least(totals_.cublas), mean = geometric_mean(totals_.cublas);
      claim_.add({"gemm_over_cublas_worst", count(totals_.cublas), worst, "least speed over cuBLAS's",
                  "cuBLAS's pair of products, without gelu, in stream order", worst, 0.6});
      claim_.add({"gemm_over_cublas_mean", count(totals_.cublas), mean, "geometric mean of the speeds over cuBLAS's",
                  "cuBLAS's pair of products, without gelu, in stream order", mean, 0.6});
    }
  }

  // The time of a kernel of one block per SM beside chains that run all the time.
  Result<> neighbours() {
    const sample::tiles::Network network =
        gpu_ ? sample::tiles::feed_forward(768) : sample::tiles::feed_forward(130, 64, 128);
    if (auto r = park_anew("neighbours", gpu_ ? 1 : 0); !r) return r;
    auto made = NetworkChain::make(*runtime_, sites_, kTimeout, *stream_, network);
    if (!made) return made.error();
    NetworkChain& chain = **made;
    using sample::tiles::Share;
    const sample::tiles::TileSize size = gpu_ ? sample::tiles::TileSize::large : sample::tiles::TileSize::small;
    std::vector<std::pair<std::string, std::optional<ChainPlan>>> beside{
        {"alone", {}},
        {"stream_order", ChainPlan{size, Way::stream_order, Share::row, 4, 0, kPolling}},
        {"polling", ChainPlan{size, Way::tiles, Share::row, 4, 0, kPolling}},
        {"parked", ChainPlan{size, Way::tiles, Share::row, 4, 0, kParked}},
        {"asleep", ChainPlan{size, Way::tiles, Share::row, 4, 0, kAsleep}},
        {"napping", ChainPlan{size, Way::tiles, Share::row, 4, 0, kNapping}}};
    auto other = device().make_stream();
    if (!other) return other.error();
    if (auto r = neighbour<Bound::fp32>(chain, beside, **other); !r) return r;
    if (auto r = neighbour<Bound::shared_memory>(chain, beside, **other); !r) return r;
    if (auto r = neighbour<Bound::l2_latency>(chain, beside, **other); !r) return r;
    return neighbour<Bound::streaming>(chain, beside, **other);
  }

  template <Bound kBound>
  Result<> neighbour(NetworkChain& chain, const std::vector<std::pair<std::string, std::optional<ChainPlan>>>& beside,
                     wic::Stream& other) {
    WorkMemory memory;
    if (auto r = memory.allocate(device(), device(), *stream_, kBound); !r) return r;
    auto begin = device().make_event(), end = device().make_event();
    if (!begin) return begin.error();
    if (!end) return end.error();
    constexpr std::uint32_t kThreads = 128;
    constexpr std::uint32_t kSharedBytes =
        kBound == Bound::shared_memory ? kThreads * Work::kWordsPerThread * sizeof(std::uint32_t) : 0;
    const wic::LaunchShape shape{device().properties().sm_count, kThreads, kSharedBytes};
    std::uint32_t amount = 1;
    const auto once = [&](const std::optional<ChainPlan>& plan, double& chain_ns) -> Result<double> {
      constexpr std::uint32_t kChains = 12;
      std::vector<double> spans;
      if (auto r = other.record(**begin); !r) return r.error();
      if (auto r = wic::launch(other, shape, NeighbourKernel<kBound>{memory.work(amount)}); !r) return r.error();
      if (auto r = other.record(**end); !r) return r.error();
      if (plan) {
        const TimeNs from = wic::now_ns();
        for (std::uint32_t i = 0; i < kChains; ++i) {
          if (auto r = chain.launch(*stream_, *plan); !r) return r.error();
        }
        if (auto r = chain.finish(*stream_, *plan); !r) return r.error();
        chain_ns = static_cast<double>(wic::now_ns() - from) / kChains;
      }
      if (auto r = other.synchronize(); !r) return r.error();
      return (*end)->ns_since(**begin);
    };
    double unused = 0;
    const double wanted_ns = gpu_ ? 2.5e6 : 1e5;  // shorter than the chains beside it
    for (int i = 0; i < 30; ++i) {
      const auto took = once({}, unused);
      if (!took) return took.error();
      if (*took >= wanted_ns) break;
      amount *= 2;
    }
    std::map<std::string, std::vector<double>> times, chains;
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      for (const auto& [name, plan] : beside) {
        double chain_ns = 0;
        const auto took = once(plan, chain_ns);
        if (!took) return took.error();
        if (round == 0) continue;
        times[name].push_back(*took);
        chains[name].push_back(chain_ns);
      }
    }
    for (const auto& [name, plan] : beside) {
      claim_.add({"neighbour_" + std::string(bound_name(kBound)) + "_" + name,
                  {{"chain_us", median(chains[name]) / 1e3}},
                  median(times[name]) / 1e3,
                  "us",
                  "the same neighbour beside nothing",
                  median(times[name]) / median(times["alone"])});
      std::fprintf(stderr, "tiles: neighbour %s %s %.1f us, a chain %.1f us\n", bound_name(kBound).data(), name.c_str(),
                   median(times[name]) / 1e3, median(chains[name]) / 1e3);
    }
    return ok();
  }

  Result<> launches() {
    const TimeNs begin = wic::now_ns();
    const auto counts = run_random_chains(*runtime_, sites_[kPolling], static_cast<std::uint64_t>(options_.launches),
                                          options_.launch_seconds * 1'000'000'000, 2027);
    if (!counts) return counts.error();
    const double right = 1 - static_cast<double>(counts->failed) / static_cast<double>(counts->chains);
    claim_.add({"random_launches",
                {{"chains", static_cast<std::int64_t>(counts->chains)},
                 {"beside_a_kernel_that_holds_sms", static_cast<std::int64_t>(counts->held)},
                 {"seconds", static_cast<double>(wic::now_ns() - begin) / 1e9}},
                static_cast<double>(counts->launches),
                "launches",
                "chains without deadlock, all numbers right",
                right,
                1.0});
    const double of_asked = static_cast<double>(counts->launches) / static_cast<double>(options_.launches);
    claim_.add({"random_launches_done",
                {},
                static_cast<double>(counts->launches),
                "launches",
                "those asked for",
                of_asked,
                1.0});
    std::fprintf(stderr, "tiles: %.0f launches, %.0f chains failed\n", static_cast<double>(counts->launches),
                 static_cast<double>(counts->failed));
    return ok();
  }

  Result<> faults() {
    const auto counts = run_faulty_chains(*runtime_, sites_[kPolling], static_cast<std::uint32_t>(options_.faults), 99);
    if (!counts) return counts.error();
    const auto all = static_cast<double>(counts->faults);
    claim_.add({"faults",
                {{"longest_ms", counts->longest_ms}, {"deadline_ms", 20.0}},
                all,
                "chains that break a rule",
                "those that ended with an error that names the deadline",
                counts->named / all,
                1.0});
    claim_.add({"faults_recovered",
                {},
                static_cast<double>(counts->recovered),
                "chains that were right after a reset",
                "all of them",
                static_cast<double>(counts->recovered) / all,
                1.0});
    std::fprintf(stderr, "tiles: %.0f faults, %.0f named, %.0f recovered, at most %.1f ms\n", all,
                 static_cast<double>(counts->named), static_cast<double>(counts->recovered), counts->longest_ms);
    return ok();
  }

  const Options& options_;
  Claim& claim_;
  std::unique_ptr<wic::Runtime> runtime_;
  bool gpu_ = false;
  std::vector<SiteId> sites_;
  std::unique_ptr<wic::Stream> stream_;
  GatedTimer timer_;
  double launch_ns_ = 0;
  std::mt19937 random_{2026};
  std::unique_ptr<CublasProducts> cublas_;
  wic::Array<sample::tiles::Bf16> implicit_;
  wic::TileTuner tuner_{15};
  Totals totals_;
};

}  // namespace

int main(int argc, char** argv) {
  Claim claim("tiles", "dependent kernels in stream order and tile by tile", argc, argv);
  Options options;
  options.devices = claim.option("devices", std::string("simt:1"));
  options.only = claim.option("only", std::string("shapes,vector,neighbours,launches,faults"));
  options.shapes = claim.option("shapes", std::string(""));
  options.rounds = claim.option("rounds", std::int64_t{15});
  options.launches = claim.option("launches", std::int64_t{1000});
  options.launch_seconds = claim.option("launch-seconds", std::int64_t{60});
  options.faults = claim.option("faults", std::int64_t{8});
  options.cublas = claim.option("cublas", std::string("libcublas.so.13"));
  options.choices = claim.option("choices", std::string("/dev/null"));
  const Result<> ran = TilesBench(options, claim).run();
  if (!ran) {
    std::fprintf(stderr, "tiles: %s\n", ran.error().message.c_str());
    // What was measured before the failure is written all the same.
    claim.add({"failed", {{"error", ran.error().message}}, 0, "", "1: nothing failed", 0, 1.0});
  }
  return claim.write();
}
