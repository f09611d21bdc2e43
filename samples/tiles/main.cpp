// Dependent kernels of a neural network, or two vector kernels, one after the other or tile by tile; see README.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include "common/options.h"
#include "tiles/network_chain.h"
#include "tiles/vector_pair.h"
#include "wic/launch.h"
#include "wic/tile_chain.h"
#include "wic/tile_tuner.h"

namespace {

using sample::SampleOptions;
using sample::tiles::ChainPlan;
using sample::tiles::Network;
using sample::tiles::NetworkChain;
using sample::tiles::Share;
using sample::tiles::TileSize;
using sample::tiles::Way;
using wic::Array;
using wic::Memory;
using wic::ok;
using wic::Result;

struct Options {
  SampleOptions common;
  std::string pair = "mlp";
  std::string way = "tiles";
  std::string choices;
  std::uint32_t batch = 0;
};

struct Outcome {
  std::uint32_t iterations = 0;
  double us = 0;
  std::string plan;
};

/// The time of `work` on the device, in nanoseconds. Waits for it.
Result<double> timed(wic::Device& device, wic::Stream& stream, const std::function<Result<>()>& work,
                     const std::function<Result<>()>& finish) {
  auto begin = device.make_event();
  auto end = device.make_event();
  if (!begin) return begin.error();
  if (!end) return end.error();
  if (auto r = stream.record(**begin); !r) return r.error();
  if (auto r = work(); !r) return r.error();
  if (auto r = stream.record(**end); !r) return r.error();
  if (auto r = finish(); !r) return r.error();
  return (*end)->ns_since(**begin);
}

/// GPT-3's layers on one of eight GPUs and a block of ResNet; on the CPU device ones of the same kind that end soon.
Network network_of(const Options& options) {
  const bool gpu = options.common.on_gpu();
  const auto size = [&](std::uint32_t on_gpu, std::uint32_t on_cpu) {
    return options.batch != 0 ? options.batch : gpu ? on_gpu : on_cpu;
  };
  if (options.pair == "attention") {
    const std::uint32_t batch = size(1024, 65), keys = (batch + 63) / 64 * 64;
    return gpu ? sample::tiles::attention(batch, keys) : sample::tiles::attention(batch, keys, 64, 2, 64);
  }
  if (options.pair == "conv") {
    return gpu ? sample::tiles::convolutions(size(28, 0), 28, 128) : sample::tiles::convolutions(size(0, 2), 7, 64);
  }
  return gpu ? sample::tiles::feed_forward(size(768, 0)) : sample::tiles::feed_forward(size(0, 192), 64, 128);
}

std::vector<ChainPlan> plans_of(const Network& network, bool gpu) {
  const std::uint32_t rows = network.layers[0].size.rows, columns = network.layers[0].size.columns;
  const TileSize tile = !gpu || rows <= 128 ? TileSize::small : columns <= 64 ? TileSize::tall : TileSize::large;
  const bool slices = network.layers[0].slices > 1;
  return {{tile, Way::stream_order, Share::row, 2},
          {tile, Way::dependent_launch, Share::row, 2},
          {tile, Way::tiles, slices ? Share::slice : Share::row, 2},
          {tile, Way::tiles, Share::row, 4},
          {tile, Way::tiles, Share::tile, 2},
          {tile, Way::dependent_launch, Share::row, 2, 24},
          {tile, Way::tiles, Share::row, 2, 24}};
}

Result<Outcome> run_network(wic::Runtime& rt, wic::SiteId site, wic::Stream& stream, const Options& options) {
  wic::Device& device = rt.device(0);
  const Network network = network_of(options);
  auto made = NetworkChain::make(rt, {site}, options.common.timeout_ns(), stream, network);
  if (!made) return made.error();
  NetworkChain& chain = **made;
  const std::vector<ChainPlan> plans = plans_of(network, options.common.on_gpu());
  const auto time = [&](const ChainPlan& plan) {
    return timed(
        device, stream, [&] { return chain.launch(stream, plan); }, [&] { return chain.finish(stream, plan); });
  };
  ChainPlan plan = plans[options.way == "tiles" ? 2 : options.way == "dependent" ? 1 : 0];
  if (options.way == "tuned") {
    wic::TileTuner tuner;
    if (!options.choices.empty()) {
      // A file that does not exist yet is no error.
      if (FILE* file = std::fopen(options.choices.c_str(), "r"); file != nullptr) {
        std::fclose(file);
        if (auto r = tuner.load(options.choices); !r) return r.error();
      }
    }
    std::vector<std::string> names;
    for (const ChainPlan& each : plans) names.push_back(each.name());
    const std::string shape = device.properties().name + ", " + network.name;
    const auto choice = tuner.choose(shape, names, [&](std::size_t i) { return time(plans[i]); });
    if (!choice) return choice.error();
    plan = plans[static_cast<std::size_t>(std::find(names.begin(), names.end(), choice->plan) - names.begin())];
    std::printf("tiles: the tuner's choice for %s: %s, a speed-up of %.3f over stream order\n", shape.c_str(),
                choice->plan.c_str(), choice->gain());
    if (!options.choices.empty()) {
      if (auto r = tuner.save(options.choices); !r) return r.error();
    }
  }
  if (auto r = chain.check(stream, plan); !r) return r.error();
  Outcome outcome{0, 0, plan.name()};
  std::vector<double> times;
  for (sample::Progress progress(options.common); progress.more(); outcome.iterations = progress.next()) {
    const auto took = time(plan);
    if (!took) return took.error();
    times.push_back(*took / 1e3);
  }
  outcome.us = sample::median(times);
  return outcome;
}

Result<Outcome> run_vector(wic::Runtime& rt, wic::SiteId site, wic::Stream& stream, const Options& options) {
  if (options.way == "tuned") return wic::bad_input("--way tuned goes with --pair mlp, attention or conv");
  wic::Device& device = rt.device(0);
  const bool gpu = options.common.on_gpu();
  const wic::TileGrid grid = gpu ? wic::TileGrid{25, 16} : wic::TileGrid{5, 4};
  const std::uint32_t blocks = gpu ? device.properties().sm_count : 3, elements = gpu ? 16'384 : 256;
  const std::size_t count = std::size_t{grid.count()} * elements;
  auto x = Array<float>::make(device, count, Memory::device);
  auto y = Array<float>::make(device, count, Memory::device);
  auto z = Array<float>::make(device, count, Memory::device);
  auto counts = Array<std::uint32_t>::make(device, 64, Memory::device);
  auto seen = Array<std::uint32_t>::make(device, 64, Memory::pinned_host);
  auto values = Array<float>::make(device, count, Memory::pinned_host);
  for (const auto* array : {&x, &y, &z, &values}) {
    if (!*array) return array->error();
  }
  for (const auto* array : {&counts, &seen}) {
    if (!*array) return array->error();
  }
  for (std::size_t i = 0; i < count; ++i) (*values)[i] = static_cast<float>(i % 97);
  if (auto r = stream.copy(x->data(), values->data(), x->bytes()); !r) return r.error();
  const wic::Row policy{grid};
  auto chain =
      wic::TileChain::make(rt, 0, site, options.common.timeout_ns(),
                           {{"scale", grid.count(), blocks, policy.semaphores()}, {"add", grid.count(), blocks, 0}});
  if (!chain) return chain.error();
  const sample::tiles::VectorPair data{grid, elements, x->data(), y->data(), z->data(), 3};
  const wic::LaunchShape shape{blocks, 128, sizeof(wic::TileTicket)};
  const wic::TileStart start = options.way == "stream" ? wic::TileStart::stream_order : wic::TileStart::dependent;
  Outcome outcome{0, 0, std::string("vectors, by row, ") + std::string(wic::name_of(start))};
  std::vector<double> times;
  for (sample::Progress progress(options.common); progress.more(); outcome.iterations = progress.next()) {
    const sample::tiles::ScaleTiles<wic::Row> first{chain->queue(0), {grid, 1}, chain->sync(0, policy), data, 0};
    const sample::tiles::AddMirrored<wic::Row> second{chain->queue(1), {grid, 1},          chain->sync(0, policy), data,
                                                      counts->data(),  counts->data() + 32};
    const auto took = timed(
        device, stream,
        [&] {
          return chain->launch(stream, start,
                               std::array{wic::PlannedLaunch{shape, wic::kernel_ref(first)},
                                          wic::PlannedLaunch{shape, wic::kernel_ref(second)}});
        },
        [&] { return chain->finish(stream); });
    if (!took) return took.error();
    times.push_back(*took / 1e3);
  }
  outcome.us = sample::median(times);
  if (auto r = stream.copy(seen->data(), counts->data(), seen->bytes()); !r) return r.error();
  if (auto r = stream.copy(values->data(), z->data(), z->bytes()); !r) return r.error();
  if (auto r = stream.synchronize(); !r) return r.error();
  const std::uint32_t tiles = outcome.iterations * grid.count();
  if ((*seen)[0] != 0 || (*seen)[32] != tiles) {
    return wic::failed(std::to_string((*seen)[0]) + " numbers were read too early, and " + std::to_string((*seen)[32]) +
                       " of " + std::to_string(tiles) + " tiles were computed");
  }
  for (std::uint32_t tile = 0; tile < grid.count(); ++tile) {
    const std::uint32_t row = tile / grid.columns, column = tile % grid.columns;
    const std::size_t mirrored = std::size_t{row * grid.columns + grid.columns - 1 - column} * elements;
    for (std::uint32_t i = 0; i < elements; ++i) {
      const std::size_t at = std::size_t{tile} * elements + i;
      const float wanted = 3.0f * static_cast<float>(at % 97) + 3.0f * static_cast<float>((mirrored + i) % 97) +
                           2 * static_cast<float>(outcome.iterations & 1023u);
      if ((*values)[at] != wanted) return wic::failed("z[" + std::to_string(at) + "] is wrong");
    }
  }
  return outcome;
}

Result<Outcome> run(const Options& options) {
  auto runtime = wic::Runtime::create(options.common.runtime());
  if (!runtime) return runtime.error();
  wic::Runtime& rt = **runtime;
  if (!rt.warning().empty()) std::fprintf(stderr, "tiles: %s\n", rt.warning().c_str());
  const auto site = rt.add_site({.name = "tiles.row",
                                 .word_memory = wic::WordMemory::device,
                                 .group_warps = options.pair == "mlp" || options.pair == "conv" ? 1u : 0u});
  if (!site) return site.error();
  auto stream = rt.device(0).make_stream();
  if (!stream) return stream.error();
  return options.pair == "vector" ? run_vector(rt, *site, **stream, options)
                                  : run_network(rt, *site, **stream, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "tiles: dependent kernels, one after the other or tile by tile.\n"
      "Example: tiles --devices cuda:0 --pair mlp --batch 768 --way tuned"};
  Options options;
  sample::add_options(app, options.common);
  app.add_option("--pair", options.pair,
                 "mlp (two products), attention (five kernels), conv (two convolutions) or vector")
      ->check(CLI::IsMember({"mlp", "attention", "conv", "vector"}))
      ->capture_default_str();
  app.add_option("--way", options.way, "stream (order), dependent (launch), tiles, or tuned: the fastest of them")
      ->check(CLI::IsMember({"stream", "dependent", "tiles", "tuned"}))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "rows of the input, or images; 0 = the pair's default")
      ->check(CLI::Range(0u, 16384u));
  app.add_option("--choices", options.choices, "file of the tuner's choices, which it reads and writes");
  if (const auto status = sample::parse(app, argc, argv)) return *status;

  const auto outcome = run(options);
  if (!outcome) return sample::fail("tiles", outcome.error());
  std::printf("tiles: %u iterations on %s, %s, iteration p50 %.1f us, ok\n", outcome->iterations,
              options.common.devices.c_str(), outcome->plan.c_str(), outcome->us);
  return 0;
}
