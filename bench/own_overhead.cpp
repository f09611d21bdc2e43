// The cost of the backend itself when there is nothing to wait for: the two kernels of c_h3d on one device, with every
// message already present, against the same kernels with a bare check of each flag instead of the backend. The
// benchmark measures the device's time alone, which is stricter: together with the slower CPU rank the same cost would
// hardly show.
//
// Both neighbours of the device's rank are one prefilled outbox, and all launches use the same iteration number, so
// that each wait finds exactly the value it waits for. The ways of waiting alternate.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>

#include "bench/claim.h"
#include "bench/memory.h"
#include "c_h3d/kernels.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using namespace wicprof::bench;
using sample::h3d::Boundary;
using sample::h3d::Brick;
using sample::h3d::Cell;
using sample::h3d::DeviceFailure;
using sample::h3d::Exchange;
using sample::h3d::Neighbours;
using sample::h3d::Outbox;
using wicprof::Result;

constexpr std::uint32_t kIteration = 1;

// Exchange without the backend: release stores, one polling thread, one barrier after the poll.
struct BareExchange {
  static constexpr int kMaxThreads = Exchange::kMaxThreads, kMinBlocksPerSm = Exchange::kMinBlocksPerSm;
  Exchange whole;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    using namespace sample::h3d;
    const std::uint32_t failed_at = thread.load(&whole.failure->failed_at);
    if (failed_at != 0 && failed_at < whole.iteration) return;
    if (thread.block() >= kMessages) {
      whole.compute(thread);
      return;
    }
    const std::uint32_t message = thread.block();
    const Direction direction = direction_of(message);
    const auto step = [&] { thread.step(); };
    pack(whole.brick, own_box(whole.brick, direction), whole.current,
         whole.neighbours.outgoing(message, whole.iteration), thread.index(), thread.block_size(), step);
    thread.sync_block();
    if (thread.index() == 0) {
      thread.store_release(whole.neighbours.outgoing_word(message, whole.iteration), whole.iteration);
      poll(thread, whole.neighbours.incoming_word(message, whole.iteration));
    }
    thread.sync_warp();
    thread.sync_block();
    unpack(whole.brick, ghost_box(whole.brick, direction), whole.neighbours.incoming(message, whole.iteration),
           whole.current, thread.index(), thread.block_size(), step);
  }

 private:
  WIC_DEVICE void poll(const wic::Thread& thread, const std::uint32_t* word) const {
    std::uint32_t value = thread.load(word);
    if (!wic::AtLeast{whole.iteration}(value)) {
      const std::uint64_t end = thread.clock_ns() + whole.timeout_ns;
      while (!wic::AtLeast{whole.iteration}(value = thread.load(word))) {
        if (thread.clock_ns() < end) continue;
        thread.store(&whole.failure->failed_at, whole.iteration);
        thread.fetch_add(&whole.failure->missed, 1);
        break;
      }
    }
    thread.fence_acquire();
    if (value != whole.iteration) thread.fetch_add(&whole.failure->overruns, 1);
  }
};

struct Way {
  const char* name;
  bool bare;
  bool same_grid;  // bare, in the grid that fits with the backend's registers; isolates the cost of the waits
  bool record;
  wicprof::StrategyId strategy;
};
constexpr std::array kWays{Way{"bare", true, false, false, wicprof::StrategyId::poll},
                           Way{"poll", false, true, false, wicprof::StrategyId::poll},
                           Way{"auto", false, true, false, wicprof::StrategyId::automatic},
                           Way{"poll_recorded", false, true, true, wicprof::StrategyId::poll},
                           Way{"auto_recorded", false, true, true, wicprof::StrategyId::automatic},
                           Way{"bare_same_grid", true, true, false, wicprof::StrategyId::poll},
                           Way{"bare_again", true, false, false, wicprof::StrategyId::poll}};

struct Options {
  std::string devices;
  std::int64_t rounds, iterations;
};

class Measurement {
 public:
  static Result<> run(const Options& options, std::uint32_t n, bool with_bar, Claim& claim) {
    Measurement m(options, n);
    if (auto r = m.prepare(); !r) return r;
    std::array<std::vector<double>, kWays.size()> ns;
    for (std::int64_t round = -1; round < options.rounds; ++round) {  // round -1 warms up
      for (std::size_t way = 0; way < kWays.size(); ++way) {
        const auto took = m.iterate(kWays[way]);
        if (!took) return took.error();
        if (round >= 0) ns[way].push_back(*took);
      }
    }
    if (auto r = m.check(); !r) return r;
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      ClaimRow row;
      row.name = "n" + std::to_string(n) + "_" + kWays[way].name;
      row.params = {{"devices", options.devices},
                    {"cells_a_side", std::int64_t{n}},
                    {"blocks", std::int64_t{kWays[way].same_grid ? m.shape_.blocks : m.bare_shape_.blocks}},
                    {"iterations_a_round", options.iterations},
                    {"rounds", options.rounds}};
      row.value = median(ns[way]) * 1e-3;
      row.unit = "us an iteration";
      if (way != 0) {
        row.compared_to = "n" + std::to_string(n) + "_bare";
        row.ratio = median(ns[way]) / median(ns[0]);
        if (with_bar && !kWays[way].bare) {
          row.bar = 1.014;
          row.at_most = true;
        }
      }
      std::fprintf(stderr, "%s: %.2f us\n", row.name.c_str(), row.value);
      claim.add(std::move(row));
    }
    return wicprof::ok();
  }

 private:
  Measurement(const Options& options, std::uint32_t n) : options_(options), brick_{n} {}

  Result<> prepare() {
    if (auto r = open(runtime_, options_.devices); !r) return r;
    wic::Device& device = runtime_->device(0);
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    for (auto* event : {&begin_, &end_}) {
      auto made = device.make_event();
      if (!made) return made.error();
      *event = *std::move(made);
    }
    if (auto r = make_memory(device); !r) return r;
    return make_kernels(device);
  }

  Result<> make_memory(wic::Device& device) {
    const Outbox sizes{nullptr, nullptr, brick_.n};
    for (int i = 0; i < 2; ++i) {
      if (auto r = allocate(cells_[i], device, sizes.stored_cells(), wic::Memory::pinned_host); !r) return r;
      if (auto r = allocate(flags_[i], device, Outbox::kFlags, wic::Memory::pinned_host); !r) return r;
      if (auto r = allocate(fields_[i], device, brick_.stored_cells(), wic::Memory::device); !r) return r;
    }
    for (std::size_t i = 0; i < cells_[1].size(); ++i) cells_[1][i] = static_cast<Cell>(i);
    for (std::uint32_t i = 0; i < Outbox::kFlags; ++i) flags_[1][i].word = kIteration;
    const std::uint32_t sms = device.properties().sm_count;
    if (auto r = allocate(heads_, device, sms, wic::Memory::device); !r) return r;
    if (auto r = allocate(records_, device, std::size_t{sms} * kRecordsPerSm, wic::Memory::pinned_host); !r) return r;
    return failure_.allocate(device, 1);
  }

  Result<> make_kernels(wic::Device& device) {
    sample::h3d::Sites sites{};
    constexpr const char* kNames[] = {"h3d.face", "h3d.edge", "h3d.corner"};
    for (std::uint32_t c = 0; c < sample::h3d::kMessageClasses; ++c) {
      const auto site =
          runtime_->add_site({kNames[c], wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, false});
      if (!site) return site.error();
      sites.by_class[c] = *site;
    }
    const Outbox mine{cells_[0].data(), flags_[0].data(), brick_.n};
    const Outbox full{cells_[1].data(), flags_[1].data(), brick_.n};
    exchange_ = {runtime_->view(0),
                 Neighbours{mine, sites, {full, sites}, {full, sites}},
                 brick_,
                 nullptr,
                 nullptr,
                 failure_.device(),
                 kIteration,
                 10'000'000'000};
    if (auto r = choose_shape(device, wic::kernel_ref(exchange_), shape_); !r) return r;
    return choose_shape(device, wic::kernel_ref(BareExchange{}), bare_shape_);
  }

  // Like c_h3d's choice.
  Result<> choose_shape(wic::Device& device, const wic::KernelRef& kernel, wic::LaunchShape& shape) {
    const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
    const std::uint32_t threads = gpu ? 512 : 64;
    const auto resident = device.resident_blocks({1, threads}, kernel);
    if (!resident) return resident.error();
    if (*resident < sample::h3d::kMessages + 1) {
      return wicprof::unavailable(device.properties().name + " holds only " + std::to_string(*resident) +
                                  " blocks at once; c_h3d needs " + std::to_string(sample::h3d::kMessages + 1));
    }
    const std::uint32_t most = gpu ? *resident - sample::h3d::kMessages : device.properties().sm_count;
    const std::uint32_t work = std::max(exchange_.lines(), brick_.n * brick_.n);
    const std::uint32_t computing = std::clamp((work + threads - 1) / threads, 1u, most);
    shape = {sample::h3d::kMessages + computing, threads};
    boundary_shape_ = {std::clamp((brick_.n * brick_.n + threads - 1) / threads, 1u, most), threads};
    return wicprof::ok();
  }

  Result<double> iterate(const Way& way) {
    if (auto r = runtime_->set_wait(0, {wicprof::Mode::park, way.strategy}); !r) return r.error();
    exchange_.view = runtime_->view(0);
    if (way.record) {
      exchange_.view.ring_heads = heads_.data();
      exchange_.view.records = records_.data();
      exchange_.view.ring_capacity_log2 = std::countr_zero(kRecordsPerSm);
    }
    if (auto r = stream_->record(*begin_); !r) return r.error();
    for (std::int64_t i = 0; i < options_.iterations; ++i) {
      exchange_.current = fields_[0].data();
      exchange_.next = fields_[1].data();
      const auto launched = way.bare
                                ? wic::launch(*stream_, way.same_grid ? shape_ : bare_shape_, BareExchange{exchange_})
                                : wic::launch(*stream_, shape_, exchange_);
      if (!launched) return launched.error();
      if (auto r = wic::launch(*stream_, boundary_shape_, Boundary{brick_, fields_[0].data(), fields_[1].data()}); !r) {
        return r.error();
      }
      std::swap(fields_[0], fields_[1]);
    }
    if (auto r = stream_->record(*end_); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    const auto took = end_->ns_since(*begin_);
    if (!took) return took.error();
    return *took / static_cast<double>(options_.iterations);
  }

  Result<> check() {
    if (auto r = failure_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    if (failure_[0].missed != 0 || failure_[0].overruns != 0) {
      return wicprof::unavailable("a prefilled message is missing");
    }
    return wicprof::ok();
  }

  static constexpr std::uint32_t kRecordsPerSm = 4096;

  const Options& options_;
  Brick brick_;
  std::unique_ptr<wic::Runtime> runtime_;
  Exchange exchange_{};
  wic::LaunchShape shape_, bare_shape_, boundary_shape_;
  wic::Array<Cell> cells_[2], fields_[2];
  wic::Array<sample::h3d::Flag> flags_[2];
  wic::Array<wic::RingHead> heads_;
  wic::Array<wic::DeviceRecord> records_;
  Mirrored<DeviceFailure> failure_;
  std::unique_ptr<wic::Event> begin_, end_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace

int main(int argc, char** argv) {
  Claim claim("own_overhead", "c_h3d's kernels with data always ready, with and without the backend", argc, argv);
  Options options;
  options.devices = claim.option("devices", "simt:1");
  const bool gpu = options.devices.starts_with("cuda");
  const std::int64_t size = claim.option("size", gpu ? 192 : 16);
  const std::int64_t small = claim.option("small-size", gpu ? 64 : 8);  // shows the overhead most; has no bar
  options.rounds = claim.option("rounds", 15);
  options.iterations = claim.option("iterations", 20);
  for (const std::int64_t n : {size, small}) {
    if (n > 512) return sample::fail("own_overhead", wicprof::bad_input("--size and --small-size must be at most 512"));
    const auto r = Measurement::run(options, static_cast<std::uint32_t>(n), n == size, claim);
    if (!r) return sample::fail("own_overhead", r.error());
  }
  return claim.write();
}
