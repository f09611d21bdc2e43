#include "bench/tiles/bench.h"

#if defined(BENCH_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "common/options.h"
#include "wic/launch.h"

namespace wicprof::bench {

namespace {

constexpr std::chrono::milliseconds kSettling{250};
constexpr double kLeastSpanNs = 150'000;  // of one measurement

// Nothing to compute: what a launch costs in a stream. As large an argument as a product's.
struct NoWork {
  std::array<std::uint64_t, 128> argument{};
  WIC_DEVICE void operator()(const wic::Thread&) const {}
};

}  // namespace

Result<> TilesBench::prepare() {
  if (auto r = open(runtime, options.devices); !r) return r;
  gpu = device().properties().kind == DeviceKind::cuda;
  for (const char* name : {"bench.polling", "bench.parked", "bench.asleep", "bench.napping"}) {
    const auto site = runtime->add_site({name, WordMemory::device});
    if (!site) return site.error();
    sites.push_back(*site);
  }
  for (const auto& [site, strategy] :
       {std::pair{kParked, StrategyId::automatic}, std::pair{kAsleep, StrategyId::predicted_sleep},
        std::pair{kNapping, StrategyId::leader_bar_sync}}) {
    if (auto r = runtime->set_wait(sites[site], {Mode::park, strategy}); !r) return r;
  }
  if (auto r = make_stream(); !r) return r;
  if (auto r = timer.prepare(device(), *stream); !r) return r;
  // A launch behind another one.
  const auto nothing = [this] { return wic::launch(*stream, {1, 32}, NoWork{}); };
  if (auto r = nothing(); !r) return r;
  std::vector<double> gaps;
  for (int i = 0; i < 5; ++i) {
    const auto gap = timer.ns(50, nothing);
    if (!gap) return gap.error();
    gaps.push_back(*gap);
  }
  launch_ns = median(gaps);
  claim.add({"launch", {}, launch_ns / 1e3, "us per empty kernel"});
  return ok();
}

Result<> TilesBench::make_stream() {
  void* own = nullptr;
#if defined(BENCH_HAVE_CUDA)
  if (gpu) {
    cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
      return unavailable("no CUDA stream could be made");
    }
    own = stream;
  }
#endif
  auto made = own != nullptr ? device().use_stream(own) : device().make_stream();
  if (!made) return made.error();
  stream = *std::move(made);
  if (!gpu) return ok();
  auto opened = CublasProducts::open(options.cublas, own);
  if (!opened) {
    std::fprintf(stderr, "tiles: %s\n", opened.error().message.c_str());
    claim.add({"cublas_could_not_look", {{"reason", opened.error().message}}, 0, ""});
    return ok();
  }
  cublas = *std::move(opened);
  // As large as the largest left factor of a convolution.
  constexpr std::size_t kNumbers = std::size_t{32} * 56 * 56 * 9 * 64;
  if (auto r = allocate(implicit, device(), kNumbers, wic::Memory::device); !r) return r;
  cublas->use_for_convolutions(implicit.data());
  return ok();
}

Turn TilesBench::turn_of(sample::tiles::NetworkChain& chain, const sample::tiles::ChainPlan& plan) {
  return {plan.name(), [this, &chain, plan] { return chain.launch(*stream, plan); },
          [this, &chain, plan] { return chain.finish(*stream, plan); }};
}

Result<> TilesBench::measure(Turn& turn) {
  const auto ns = timer.ns(turn.calls, turn.launch);
  if (!ns) return ns.error();
  if (turn.finish) {
    if (auto r = turn.finish(); !r) return r;
  }
  turn.ns.push_back(*ns);
  if (gpu) std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(*ns * turn.calls)));
  return ok();
}

Result<> TilesBench::measure(std::vector<Turn*> turns, std::int64_t rounds) {
  for (Turn* turn : turns) {
    if (auto r = turn->launch(); !r) return r;
    if (auto r = stream->synchronize(); !r) return r;
    if (auto r = measure(*turn); !r) return r;
    turn->calls = static_cast<std::uint32_t>(std::clamp(kLeastSpanNs / turn->ns[0], 1.0, 12.0));
    turn->ns.clear();
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    std::shuffle(turns.begin(), turns.end(), random);
    for (Turn* turn : turns) {
      if (auto r = measure(*turn); !r) return r;
    }
  }
  return ok();
}

Result<> TilesBench::park_anew(const std::string& shape, std::uint32_t group_warps) {
  const auto site = runtime->add_site(
      {.name = "bench.parked." + shape, .word_memory = WordMemory::device, .group_warps = group_warps});
  if (!site) return site.error();
  sites[kParked] = *site;
  return runtime->set_wait(*site, {Mode::park, StrategyId::automatic});
}

Result<> TilesBench::settle(Turn& turn) {
  const auto end = std::chrono::steady_clock::now() + kSettling;
  while (gpu && std::chrono::steady_clock::now() < end) {
    if (auto r = measure(turn); !r) return r;
  }
  turn.ns.clear();
  return ok();
}

}  // namespace wicprof::bench
