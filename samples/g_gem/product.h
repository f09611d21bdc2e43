// The program: three matrices, split into bands over the devices.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "common/ranks.h"
#include "g_gem/kernels.h"
#include "g_gem/reference.h"

namespace sample::gem {

class BlockedProduct : public App {
 public:
  static wic::Result<std::unique_ptr<BlockedProduct>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<BlockedProduct> program(new BlockedProduct(runtime, options));
    if (wic::Result<> valid = program->check_sizes(); !valid) return valid.error();
    if (wic::Result<> joined = program->make_lanes(); !joined) return joined.error();
    for (std::uint32_t d = 0; d < program->panels_.devices; ++d) {
      if (wic::Result<> added = program->add_rank(d); !added) return added.error();
    }
    if (wic::Result<> written = program->write_matrices(); !written) return written.error();
    return wic::Result<std::unique_ptr<BlockedProduct>>(std::move(program));
  }

  wic::Result<> step(std::uint32_t) override {
    ++steps_;
    for (std::uint32_t d = 0; d < panels_.devices; ++d) {
      Rank& rank = ranks_[d];
      const Refresh refresh{rank.b.data(), rank.b.size()};
      if (auto r = wic::launch(queues_[d].stream(), rank.refresh, refresh); !r) return r;
    }
    for (std::uint32_t panel = 0; panel < panels_.panels; ++panel) {
      if (wic::Result<> launched = launch(panel); !launched) return launched;
    }
    return finish_all(queues_, name_);
  }

  wic::Result<> check() override {
    const auto c = gather();
    if (!c) return c.error();
    const std::uint32_t n = panels_.n;
    const Product product(n, matrix_of(n, 0), sum_of_steps(matrix_of(n, 1), steps_));
    if (std::uint64_t{n} * n * n <= kRepeated) return product.check_all_rows(*c);
    for (std::uint32_t d = 0; d < panels_.devices; ++d) {
      const std::uint32_t begin = panels_.band_begin(d), end = panels_.band_begin(d + 1);
      for (const std::uint32_t row : {begin, begin + (end - begin) / 2, end - 1}) {
        if (wic::Result<> right = product.check_row(*c, row); !right) return right;
      }
    }
    return product.check_by_vectors(*c);
  }

  Traffic traffic() const override {
    const double others = panels_.devices - 1;
    return {others * panels_.devices * panels_.panels * panels_.tiles, others * panels_.n * panels_.n * sizeof(Word)};
  }
  std::string shape() const override {
    const std::string n = std::to_string(panels_.n);
    return n + " x " + n + " words in " + std::to_string(panels_.devices) + " bands, " +
           std::to_string(panels_.panels) + " panels of " + std::to_string(panels_.tiles) + " messages per step";
  }

  /// The whole matrix C, gathered from all devices.
  wic::Result<Words> gather() {
    Words c(std::size_t{panels_.n} * panels_.n);
    for (std::uint32_t d = 0; d < panels_.devices; ++d) {
      const Rank& rank = ranks_[d];
      if (auto r = queues_[d].stream().copy(staging_.data(), rank.c.data(), rank.c.bytes()); !r) return r.error();
      if (auto r = queues_[d].stream().synchronize(); !r) return r.error();
      std::memcpy(&c[std::size_t{panels_.band_begin(d)} * panels_.n], staging_.data(), rank.c.bytes());
    }
    return c;
  }

  /// A device's band of B, in device memory; for tests.
  const wic::Array<Word>& band_of_b(std::uint32_t device) const { return ranks_[device].b; }

 private:
  static constexpr std::uint64_t kRepeated =
      std::uint64_t{1} << 29;  ///< multiplications that the reference repeats in full: about a second
  static constexpr std::uint32_t kMaxSide = 16'384;

  struct Rank {
    wic::Array<Word> a, b, c, arrived;
    Exchange exchange;
    wic::LaunchShape refresh, grid, second;
  };

  BlockedProduct(wic::Runtime& runtime, const AppOptions& options)
      : runtime_(runtime), options_(options), name_(options.prefix + "gem") {
    const auto option_or = [&](const char* name, std::uint32_t on_gpu, std::uint32_t on_cpu) {
      const std::uint32_t given = options.number(name);
      return given != 0 ? given : options.on_gpu ? on_gpu : on_cpu;
    };
    panels_.n = options.size != 0 ? options.size : options.on_gpu ? 4096 : 128;
    panels_.devices = static_cast<std::uint32_t>(runtime.device_count());
    panels_.panels = option_or("panels", 8, 4);
    panels_.tiles = option_or("tiles", 32, 4);
  }

  wic::Result<> check_sizes() const {
    if (panels_.devices > kMaxPeers + 1) {
      return wic::bad_input(std::to_string(panels_.devices) + " devices; g_gem supports at most 8");
    }
    if (panels_.n > kMaxSide) return wic::bad_input("--size goes up to " + std::to_string(kMaxSide));
    const std::uint32_t rows = panels_.n / panels_.devices;
    if (rows < panels_.panels * panels_.tiles) {
      return wic::bad_input(std::to_string(rows) + " rows per device are fewer than " + std::to_string(panels_.panels) +
                            " panels of " + std::to_string(panels_.tiles) +
                            " messages; raise --size, or lower --panels or --tiles");
    }
    return wic::ok();
  }

  Lane& lane(std::uint32_t from, std::uint32_t to) { return *lanes_[from * panels_.devices + to]; }

  wic::Result<> make_lanes() {
    for (std::uint32_t from = 0; from < panels_.devices; ++from) {
      for (std::uint32_t to = 0; to < panels_.devices; ++to) {
        lanes_.emplace_back();
        if (from == to) continue;
        LaneSpec spec;
        spec.name = lane_name(name_, from, to);
        spec.producer = wic::End::on(static_cast<int>(from));
        spec.consumer = wic::End::on(static_cast<int>(to));
        spec.tags = panels_.tiles;
        spec.max_bytes = panels_.most_tile_rows() * panels_.n * static_cast<std::uint32_t>(sizeof(Word));
        spec.way = options_.way;
        spec.rival = options_.rival;
        auto made = Lane::make(runtime_, spec);
        if (!made) return made.error();
        lanes_.back() = *std::move(made);
      }
    }
    return wic::ok();
  }

  std::uint32_t peer_of(std::uint32_t device, std::uint32_t i) const { return i < device ? i : i + 1; }

  wic::Result<> add_rank(std::uint32_t d) {
    wic::Device& device = runtime_.device(d);
    auto queue = RankQueue::make(device);
    if (!queue) return queue.error();
    const std::size_t words = std::size_t{panels_.band_rows(d)} * panels_.n;
    const std::size_t panel_words = std::size_t{panels_.most_tile_rows()} * panels_.tiles * panels_.n;
    Rank rank{};
    for (auto* band : {&rank.a, &rank.b, &rank.c}) {
      auto made = wic::Array<Word>::make(device, words, wic::Memory::device);
      if (!made) return made.error();
      *band = *std::move(made);
    }
    auto arrived = wic::Array<Word>::make(device, panel_words * (panels_.devices - 1), wic::Memory::device);
    if (!arrived) return arrived.error();
    rank.arrived = *std::move(arrived);

    PanelWork& work = rank.exchange.work;
    work.panels = panels_;
    work.matrices = {rank.a.data(), rank.c.data(), panels_.band_rows(d), panels_.n};
    work.device = d;
    work.failure = queue->failure();
    for (std::uint32_t i = 0; i < work.peer_count(); ++i) {
      work.peers[i].device = peer_of(d, i);
      work.peers[i].arrived = rank.arrived.data() + i * panel_words;
    }
    rank.exchange.b = rank.b.data();
    rank.exchange.timeout_ns = options_.timeout_ns;
    if (wic::Result<> shaped = choose_grids(device, rank); !shaped) return shaped;
    ranks_.push_back(std::move(rank));
    queues_.push_back(*std::move(queue));
    return wic::ok();
  }

  wic::Result<> choose_grids(wic::Device& device, Rank& rank) const {
    const auto threads = choose_threads(options_, 256, Exchange::kMaxThreads);
    if (!threads) return threads.error();
    const wic::LaunchShape block{1, *threads, Tiling::shared_bytes(*threads)};
    const std::uint32_t chunks = rank.exchange.work.chunks(*threads), sharing = ranks_on(runtime_, device);
    const wic::KernelRef exchange = wic::kernel_ref(rank.exchange);
    const ExchangeAhead ahead{rank.exchange};
    const bool has_ahead = options_.rival == Rival::gps;
    // Also loads the kernel, which the last panel of a step uses with every rival.
    if (const auto loaded = device.resident_blocks(block, exchange); !loaded) return loaded.error();
    const auto first = choose_grid(device, has_ahead ? wic::kernel_ref(ahead) : exchange, block, options_,
                                   rank.exchange.tasks(), chunks, sharing);
    if (!first) return first.error();
    const MultiplyArrived arrived{rank.exchange.work};
    const auto second = choose_grid(device, wic::kernel_ref(arrived), block, options_, 0, chunks, sharing);
    if (!second) return second.error();
    rank.grid = *first;
    rank.second = *second;
    rank.refresh = {second->blocks, *threads, 0};
    return wic::ok();
  }

  wic::Result<> launch(std::uint32_t panel) {
    const std::uint32_t iteration = ++iteration_;
    for (std::uint32_t d = 0; d < panels_.devices; ++d) {
      PanelWork& work = ranks_[d].exchange.work;
      bool ahead = options_.rival == Rival::gps && panel + 1 < panels_.panels;
      work.panel = panel;
      work.iteration = iteration;
      for (std::uint32_t i = 0; i < work.peer_count(); ++i) {
        Peer& peer = work.peers[i];
        const Lane::Turn out = lane(d, peer.device).turn(iteration), in = lane(peer.device, d).turn(iteration);
        peer.out = out.sender();
        peer.out_cycle = out.cycle;
        peer.in = in.receiver();
        peer.in_cycle = in.cycle;
        ahead = ahead && keeps_way(lane(d, peer.device), out);
        if (auto r = lane(d, peer.device).carry(out, options_.timeout_ns); !r) return r;
      }
      wic::Stream& stream = queues_[d].stream();
      const Exchange& exchange = ranks_[d].exchange;
      if (auto r = ahead ? wic::launch(stream, ranks_[d].grid, ExchangeAhead{exchange})
                         : wic::launch(stream, ranks_[d].grid, exchange);
          !r) {
        return r;
      }
      if (auto r = wic::launch(stream, ranks_[d].second, MultiplyArrived{work}); !r) return r;
    }
    return wic::ok();
  }

  wic::Result<> write_matrices() {
    const std::size_t band_words = std::size_t{(panels_.n + panels_.devices - 1) / panels_.devices} * panels_.n;
    auto staging = wic::Array<Word>::make(runtime_.device(0), band_words, wic::Memory::pinned_host);
    if (!staging) return staging.error();
    staging_ = *std::move(staging);
    for (std::uint32_t which = 0; which < 2; ++which) {
      const Words matrix = matrix_of(panels_.n, which);
      for (std::uint32_t d = 0; d < panels_.devices; ++d) {
        const wic::Array<Word>& band = which == 0 ? ranks_[d].a : ranks_[d].b;
        std::memcpy(staging_.data(), &matrix[std::size_t{panels_.band_begin(d)} * panels_.n], band.bytes());
        if (auto r = queues_[d].stream().copy(band.data(), staging_.data(), band.bytes()); !r) return r;
        if (auto r = queues_[d].stream().synchronize(); !r) return r;
      }
    }
    return wic::ok();
  }

  wic::Runtime& runtime_;
  const AppOptions options_;
  const std::string name_;
  Panels panels_;
  std::uint32_t steps_ = 0;
  std::uint32_t iteration_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;  // index: from * devices + to
  std::vector<Rank> ranks_;
  wic::Array<Word> staging_;
  std::vector<RankQueue> queues_;  // last: destroyed first, so their work ends before the memory is freed
};

}  // namespace sample::gem
