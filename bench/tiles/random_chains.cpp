#include "bench/tiles/random_chains.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "bench/memory.h"
#include "bench/tiles/gated_timer.h"
#include "tiles/vector_pair.h"
#include "wic/tile_chain.h"

namespace wicprof::bench {

using sample::tiles::AddMirrored;
using sample::tiles::ScaleTiles;
using sample::tiles::VectorPair;

namespace {

constexpr std::uint32_t kMostColumns = 24, kMostRows = 16, kMostElements = 512;
constexpr std::uint64_t kTimeout = 5'000'000'000, kFaultTimeout = 20'000'000;
/// Of a block that holds an SM: no second such block fits there, nor a large one of a chain.
constexpr std::uint32_t kHeldBytes = 200 * 1024;

struct Shape {
  wic::TileGrid grid;
  std::uint32_t elements, threads;
  std::uint32_t blocks[2];
  std::uint32_t rows_together[2];
  std::uint32_t policy, stride;
  std::uint32_t longer_ns;
  std::uint32_t shared_bytes;
  std::uint32_t held_sms;
};

template <class Visitor>
auto with_policy(const Shape& shape, Visitor&& visit) {
  switch (shape.policy) {
    case 1:
      return visit(wic::Row{shape.grid});
    case 2:
      return visit(wic::Column{shape.grid});
    case 3:
      return visit(wic::Strided{shape.grid, shape.stride});
    default:
      return visit(wic::Tile{shape.grid});
  }
}

class RandomChains {
 public:
  RandomChains(wic::Runtime& runtime, SiteId site, std::uint32_t seed)
      : runtime_(runtime), device_(runtime.device(0)), site_(site), random_(seed) {}

  Result<> prepare() {
    for (auto* stream : {&stream_, &holder_, &control_}) {
      auto made = device_.make_stream();
      if (!made) return made.error();
      *stream = *std::move(made);
    }
    constexpr std::size_t kNumbers = std::size_t{kMostColumns} * kMostRows * kMostElements;
    for (auto* array : {&x_, &y_, &z_}) {
      if (auto r = allocate(*array, device_, kNumbers, wic::Memory::device); !r) return r;
    }
    wic::Array<float> numbers;
    if (auto r = allocate(numbers, device_, kNumbers, wic::Memory::pinned_host); !r) return r;
    for (std::size_t i = 0; i < kNumbers; ++i) numbers[i] = static_cast<float>(i % 97);
    if (auto r = stream_->copy(x_.data(), numbers.data(), x_.bytes()); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    if (auto r = counts_.allocate(device_, 2 * kLine); !r) return r;
    return allocate(opened_, device_, kLine, wic::Memory::device);
  }

  Result<> run(std::uint64_t launches, TimeNs longest_ns, ChainCounts& counts) {
    const TimeNs end = wic::now_ns() + longest_ns;
    while (counts.launches < launches && wic::now_ns() < end) {
      const Shape shape = next_shape();
      const std::uint32_t runs = runs_of(shape);
      if (auto r = runtime_.set_wait(site_, {counts.chains % 2 == 0 ? Mode::poll : Mode::park, StrategyId::automatic});
          !r) {
        return r;
      }
      const auto right = with_policy(shape, [&](const auto& policy) { return run_chain(shape, policy, runs); });
      if (!right) return right.error();
      counts.launches += 2ull * runs;
      counts.held += shape.held_sms != 0 ? 1 : 0;
      counts.failed += *right ? 0 : 1;
      ++counts.chains;
    }
    return ok();
  }

  Result<> fail(std::uint32_t faults, FaultCounts& counts) {
    for (; counts.faults < faults; ++counts.faults) {
      Shape shape = next_shape();
      shape.held_sms = 0;
      if (auto r = runtime_.set_wait(site_, {counts.faults % 2 == 0 ? Mode::poll : Mode::park, StrategyId::automatic});
          !r) {
        return r;
      }
      const auto done = with_policy(shape, [&](const auto& policy) { return fail_chain(shape, policy, counts); });
      if (!done) return done;
    }
    return ok();
  }

 private:
  std::uint32_t up_to(std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(1, most)(random_); }

  Shape next_shape() {
    const std::uint32_t sms = device_.properties().sm_count;
    Shape shape{};
    shape.grid = {up_to(kMostColumns), up_to(kMostRows)};
    shape.elements = 32 * up_to(kMostElements / 32);
    shape.threads = 32 * up_to(8);
    shape.shared_bytes = up_to(3) == 1 ? 64 * 1024 : sizeof(wic::TileTicket);
    // Mostly at most eight tiles per block, so that a run does not take long.
    for (std::uint32_t& blocks : shape.blocks) {
      blocks = up_to(20) == 1 ? up_to(4) : std::max(up_to(2 * sms), (shape.grid.count() + 7) / 8);
    }
    for (std::uint32_t& together : shape.rows_together) together = up_to(shape.grid.rows);
    shape.policy = up_to(4);
    shape.stride = up_to(shape.grid.columns);
    shape.longer_ns = up_to(8) == 1 ? 1'000 * up_to(5) : 0;
    shape.held_sms = up_to(2) == 1 && sms > 1 ? up_to(sms - 1) : 0;
    return shape;
  }

  /// On a GPU as many as take some 40 ms, since making a chain takes longer than a run.
  std::uint32_t runs_of(const Shape& shape) const {
    if (device_.properties().kind != DeviceKind::cuda) return 5;
    const double tiles = shape.grid.count(), free_sms = device_.properties().sm_count - shape.held_sms;
    const double at_once = shape.shared_bytes > 1024 ? 3 * free_sms : 16 * free_sms;
    const double turns = tiles / std::min<double>(shape.blocks[0], at_once) * (3'000.0 + shape.longer_ns) +
                         tiles / std::min<double>(shape.blocks[1], at_once) * 3'000.0;
    return static_cast<std::uint32_t>(std::clamp(40e6 / (10'000 + turns), 10.0, 2'000.0));
  }

  template <class Policy>
  Result<wic::TileChain> make(const Shape& shape, const Policy& policy, std::uint64_t timeout_ns) {
    return wic::TileChain::make(runtime_, 0, site_, timeout_ns,
                                {{"scale", shape.grid.count(), shape.blocks[0], policy.semaphores()},
                                 {"add", shape.grid.count(), shape.blocks[1], 0}});
  }

  wic::LaunchShape launch_shape(const Shape& shape, std::size_t stage) const {
    return {shape.blocks[stage], shape.threads, shape.shared_bytes};
  }

  template <class Policy>
  struct Kernels {
    ScaleTiles<Policy> scale;
    AddMirrored<Policy> add;
  };
  template <class Policy>
  Kernels<Policy> kernels(const Shape& shape, const Policy& policy, const wic::TileChain& chain) const {
    const VectorPair data{shape.grid, shape.elements, x_.data(), y_.data(), z_.data(), 3};
    return {{chain.queue(0), {shape.grid, shape.rows_together[0]}, chain.sync(0, policy), data, shape.longer_ns},
            {chain.queue(1),
             {shape.grid, shape.rows_together[1]},
             chain.sync(0, policy),
             data,
             counts_.device(),
             counts_.device() + kLine}};
  }

  template <class Policy>
  Result<> launch(const Shape& shape, wic::TileChain& chain, const Kernels<Policy>& both) {
    return chain.launch(*stream_, wic::TileStart::dependent,
                        std::array{wic::PlannedLaunch{launch_shape(shape, 0), wic::kernel_ref(both.scale)},
                                   wic::PlannedLaunch{launch_shape(shape, 1), wic::kernel_ref(both.add)}});
  }

  template <class Policy>
  Result<> launch_often(const Shape& shape, const Policy& policy, wic::TileChain& chain, std::uint32_t runs) {
    for (std::uint32_t i = 0; i < runs; ++i) {
      if (auto r = launch(shape, chain, kernels(shape, policy, chain)); !r) return r;
    }
    return ok();
  }

  /// Numbers that were read too early, and tiles, since the last call.
  Result<std::pair<std::uint32_t, std::uint32_t>> count() {
    if (auto r = counts_.fetch(*stream_); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    const std::pair now{counts_[0], counts_[kLine]};
    const std::pair since{now.first - seen_.first, now.second - seen_.second};
    seen_ = now;
    return since;
  }

  /// Whether every run was right.
  template <class Policy>
  Result<bool> run_chain(const Shape& shape, const Policy& policy, std::uint32_t runs) {
    auto chain = make(shape, policy, kTimeout);
    if (!chain) return chain.error();
    if (shape.held_sms != 0) {
      const wic::LaunchShape held{shape.held_sms, 32, device_.properties().kind == DeviceKind::cuda ? kHeldBytes : 0};
      if (auto r = wic::launch(*holder_, held, Gate{opened_.data(), ++gates_, kTimeout}); !r) return r.error();
    }
    const Result<> all = launch_often(shape, policy, *chain, runs);
    const Result<> finished = chain->finish(*stream_);
    if (auto r = control_->write(opened_.data(), gates_); !r) return r.error();
    if (auto r = holder_->synchronize(); !r) return r.error();
    if (!all) return all.error();
    const auto counted = count();
    if (!counted) return counted.error();
    return static_cast<bool>(finished) && counted->first == 0 && counted->second == runs * shape.grid.count();
  }

  template <class Policy>
  Result<> fail_chain(const Shape& shape, const Policy& policy, FaultCounts& counts) {
    auto chain = make(shape, policy, kFaultTimeout);
    if (!chain) return chain.error();
    const bool order = counts.faults / 2 % 2 == 0;
    Kernels<Policy> both = kernels(shape, policy, *chain);
    const TimeNs begin = wic::now_ns();
    if (order) {
      // The consumer first, in stream order.
      if (auto r = wic::launch(*stream_, launch_shape(shape, 1), both.add); !r) return r;
      if (auto r = wic::launch(*stream_, launch_shape(shape, 0), both.scale); !r) return r;
    } else {
      // A producer that leaves out its last tile.
      --both.scale.queue.tiles;
      if (auto r = launch(shape, *chain, both); !r) return r;
    }
    const Result<> finished = chain->finish(*stream_);
    counts.longest_ms = std::max(counts.longest_ms, static_cast<double>(wic::now_ns() - begin) / 1e6);
    if (!finished && finished.error().message.find("deadline") != std::string::npos) ++counts.named;
    if (auto r = chain->reset(*stream_); !r) return r;
    if (auto counted = count(); !counted) return counted.error();
    if (auto r = launch(shape, *chain, kernels(shape, policy, *chain)); !r) return r;
    const Result<> again = chain->finish(*stream_);
    const auto counted = count();
    if (!counted) return counted.error();
    if (again && counted->first == 0 && counted->second == shape.grid.count()) ++counts.recovered;
    return ok();
  }

  wic::Runtime& runtime_;
  wic::Device& device_;
  SiteId site_;
  std::mt19937 random_;
  std::unique_ptr<wic::Stream> stream_, holder_, control_;
  wic::Array<float> x_, y_, z_;
  Mirrored<std::uint32_t> counts_;
  std::pair<std::uint32_t, std::uint32_t> seen_{};
  wic::Array<std::uint32_t> opened_;  // on the device: a hundred blocks that poll the host would slow everything
  std::uint32_t gates_ = 0;
};

}  // namespace

Result<ChainCounts> run_random_chains(wic::Runtime& runtime, SiteId site, std::uint64_t launches, TimeNs longest_ns,
                                      std::uint32_t seed) {
  RandomChains chains(runtime, site, seed);
  if (auto r = chains.prepare(); !r) return r.error();
  ChainCounts counts;
  if (auto r = chains.run(launches, longest_ns, counts); !r) return r.error();
  return counts;
}

Result<FaultCounts> run_faulty_chains(wic::Runtime& runtime, SiteId site, std::uint32_t faults, std::uint32_t seed) {
  RandomChains chains(runtime, site, seed);
  if (auto r = chains.prepare(); !r) return r.error();
  FaultCounts counts;
  if (auto r = chains.fail(faults, counts); !r) return r.error();
  return counts;
}

}  // namespace wicprof::bench
