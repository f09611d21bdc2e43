// What all tables of bench_tiles share: the devices, the sites, and measurements in turn.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/claim.h"
#include "bench/tiles/cublas_products.h"
#include "bench/tiles/gated_timer.h"
#include "bench/tiles/totals.h"
#include "bench/work_memory.h"
#include "tiles/network_chain.h"
#include "wic/runtime.h"
#include "wic/tile_tuner.h"

namespace wicprof::bench {

struct TilesOptions {
  std::string devices, only, shapes, cublas, choices;
  std::int64_t rounds = 0, launches = 0, launch_seconds = 0, faults = 0;
};

// Indices of the sites: the program's own polling, `auto`, a strategy that sleeps for as long as waits usually last,
// and a leader that polls less often the longer a wait lasts.
inline constexpr std::size_t kPolling = 0, kParked = 1, kAsleep = 2, kNapping = 3;
inline constexpr std::uint64_t kTilesTimeoutNs = 5'000'000'000;

/// A way to run a chain, and its times.
struct Turn {
  std::string name;
  std::function<Result<>()> launch, finish;
  std::uint32_t calls = 1;
  std::vector<double> ns = {};  ///< per call
  double median_ns() const { return median(ns); }
};

/// One thread.
struct TilesBench {
  TilesBench(TilesOptions its_options, Claim& its_claim) : options(std::move(its_options)), claim(its_claim) {}

  /// Opens the devices and cuBLAS, and measures an empty launch. Errors: no such device.
  Result<> prepare();
  wic::Device& device() { return runtime->device(0); }

  Turn turn_of(sample::tiles::NetworkChain& chain, const sample::tiles::ChainPlan& plan);
  Result<> measure(Turn& turn);
  /// All of them in turn, each round in another order; the first round warms up. The device rests as long as it works:
  /// its clock falls when it does nothing but multiply.
  Result<> measure(std::vector<Turn*> turns, std::int64_t rounds);

  /// A new site for `auto`, which has not seen the waits of another shape. `group_warps`: see SiteSpec.
  Result<> park_anew(const std::string& shape, std::uint32_t group_warps);
  /// Runs a chain until `auto` has seen enough of its waits. On the CPU device: nothing.
  Result<> settle(Turn& turn);
  /// The strategy in force at the site for `auto`.
  std::string parked_strategy() const { return std::string(strategy_name(runtime->strategy(sites[kParked]))); }

  TilesOptions options;
  Claim& claim;
  std::unique_ptr<wic::Runtime> runtime;
  bool gpu = false;
  std::vector<SiteId> sites;
  std::unique_ptr<wic::Stream> stream;
  GatedTimer timer;
  double launch_ns = 0;  ///< of a kernel without work
  std::mt19937 random{2026};
  std::unique_ptr<CublasProducts> cublas;  ///< empty where there is no cuBLAS
  wic::Array<sample::tiles::Bf16> implicit;
  wic::TileTuner tuner{15};
  TilesTotals totals;

 private:
  Result<> make_stream();
};

}  // namespace wicprof::bench
