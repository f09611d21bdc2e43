#include <cstdio>
#include <map>
#include <optional>

#include "bench/tiles/tables.h"
#include "common/options.h"
#include "wic/launch.h"

namespace wicprof::bench {

using sample::tiles::ChainPlan;
using sample::tiles::NetworkChain;
using sample::tiles::Way;

namespace {

template <Bound kBound>
struct NeighbourKernel {
  Work work;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    work.run<kBound>(thread, thread.block(), thread.block_count(), thread.index(), thread.block_size());
  }
};

template <Bound kBound>
Result<> neighbour(TilesBench& bench, NetworkChain& chain,
                   const std::vector<std::pair<std::string, std::optional<ChainPlan>>>& beside, wic::Stream& other) {
  WorkMemory memory;
  if (auto r = memory.allocate(bench.device(), bench.device(), *bench.stream, kBound); !r) return r;
  auto begin = bench.device().make_event(), end = bench.device().make_event();
  if (!begin) return begin.error();
  if (!end) return end.error();
  constexpr std::uint32_t kThreads = 128;
  constexpr std::uint32_t kSharedBytes =
      kBound == Bound::shared_memory ? kThreads * Work::kWordsPerThread * sizeof(std::uint32_t) : 0;
  const wic::LaunchShape shape{bench.device().properties().sm_count, kThreads, kSharedBytes};
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
        if (auto r = chain.launch(*bench.stream, *plan); !r) return r.error();
      }
      if (auto r = chain.finish(*bench.stream, *plan); !r) return r.error();
      chain_ns = static_cast<double>(wic::now_ns() - from) / kChains;
    }
    if (auto r = other.synchronize(); !r) return r.error();
    return (*end)->ns_since(**begin);
  };
  double unused = 0;
  const double wanted_ns = bench.gpu ? 2.5e6 : 1e5;  // shorter than the chains beside it
  for (int i = 0; i < 30; ++i) {
    const auto took = once({}, unused);
    if (!took) return took.error();
    if (*took >= wanted_ns) break;
    amount *= 2;
  }
  std::map<std::string, std::vector<double>> times, chains;
  for (std::int64_t round = 0; round < bench.options.rounds; ++round) {
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
    bench.claim.add({"neighbour_" + std::string(bound_name(kBound)) + "_" + name,
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

}  // namespace

Result<> add_neighbours(TilesBench& bench) {
  const sample::tiles::Network network =
      bench.gpu ? sample::tiles::feed_forward(768) : sample::tiles::feed_forward(130, 64, 128);
  if (auto r = bench.park_anew("neighbours", bench.gpu ? 1 : 0); !r) return r;
  auto made = NetworkChain::make(*bench.runtime, bench.sites, kTilesTimeoutNs, *bench.stream, network);
  if (!made) return made.error();
  NetworkChain& chain = **made;
  using sample::tiles::Share;
  const sample::tiles::TileSize size = bench.gpu ? sample::tiles::TileSize::large : sample::tiles::TileSize::small;
  std::vector<std::pair<std::string, std::optional<ChainPlan>>> beside{
      {"alone", {}},
      {"stream_order", ChainPlan{size, Way::stream_order, Share::row, 4, 0, kPolling}},
      {"polling", ChainPlan{size, Way::tiles, Share::row, 4, 0, kPolling}},
      {"parked", ChainPlan{size, Way::tiles, Share::row, 4, 0, kParked}},
      {"asleep", ChainPlan{size, Way::tiles, Share::row, 4, 0, kAsleep}},
      {"napping", ChainPlan{size, Way::tiles, Share::row, 4, 0, kNapping}}};
  auto other = bench.device().make_stream();
  if (!other) return other.error();
  if (auto r = neighbour<Bound::fp32>(bench, chain, beside, **other); !r) return r;
  if (auto r = neighbour<Bound::shared_memory>(bench, chain, beside, **other); !r) return r;
  if (auto r = neighbour<Bound::l2_latency>(bench, chain, beside, **other); !r) return r;
  return neighbour<Bound::streaming>(bench, chain, beside, **other);
}

}  // namespace wicprof::bench
