#include <algorithm>
#include <utility>

#include "common/transfer.h"
#include "field/apps.h"
#include "field/megakernel/interpreter.h"
#include "wic/launch.h"

namespace sample {
namespace megakernel {
namespace {

using wic::Result;

class Megakernel final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Megakernel> app(new Megakernel(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double messages = static_cast<double>(passes_) * network_.layers * network_.groups;
    return {messages, messages * network_.group_tiles() * kTileWords * sizeof(std::uint32_t)};
  }
  Felt take_felt() override {
    return {"passes", std::exchange(done_, 0), {}, neighbour_->unit(), neighbour_->take_work()};
  }
  std::string shape() const override {
    return std::to_string(network_.layers) + " layers of " + std::to_string(network_.tiles) + " tiles with " +
           std::to_string(quads_ * sizeof(Quad) / 1024) + " KiB of weights each, " + std::to_string(passes_) +
           " passes, " + std::to_string(shape_.blocks) + " blocks";
  }

 private:
  Megakernel(wic::Runtime& runtime, const AppOptions& options) : runtime_(runtime), timeout_ns_(options.timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> open_memory(wic::Device& device);
  std::uint32_t sum_of_weights(std::uint32_t layer, std::uint32_t tile) const;
  std::vector<std::uint32_t> reference() const;

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  Network network_{};
  std::uint32_t quads_ = 0, passes_ = 0, pass_ = 0;
  double done_ = 0;
  wic::LaunchShape shape_;
  wic::SiteId site_ = 0;
  wic::Array<Quad> weights_;
  wic::Array<std::uint32_t> activations_, counts_, ready_;
  std::unique_ptr<Neighbour> neighbour_;
  std::unique_ptr<RankQueue> queue_;  // last: destroyed first, so its work ends before the memory is freed
};

Result<> Megakernel::open(const AppOptions& options) {
  wic::Device& device = runtime_.device(0);
  network_.groups = 8;
  const std::uint32_t tiles = options.size != 0 ? options.size : options.on_gpu ? 512 : 16;
  network_.tiles = (tiles + network_.groups - 1) / network_.groups * network_.groups;
  network_.layers = options.number("layers") != 0 ? options.number("layers") : options.on_gpu ? 32 : 4;
  quads_ = (options.number("weights") != 0 ? options.number("weights") : options.on_gpu ? 64 : 1) * 1024 / sizeof(Quad);
  passes_ = options.number("passes") != 0 ? options.number("passes") : options.on_gpu ? 50 : 2;
  const auto kind = Neighbour::kind_of(options.more.at("neighbour"));
  if (!kind) return kind.error();
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  const std::uint32_t sms = device.properties().sm_count;
  shape_ = {options.blocks != 0 ? options.blocks : options.on_gpu ? 2 * sms : 4, *threads, 2 * sizeof(std::uint32_t)};
  auto neighbour = Neighbour::make(device, *kind, 1, timeout_ns_);
  if (!neighbour) return neighbour.error();
  neighbour_ = *std::move(neighbour);
  const Run kernel{};
  const std::vector<wic::PlannedLaunch> together{{shape_, wic::kernel_ref(kernel)}, neighbour_->planned()};
  if (auto r = wic::check_co_resident(device, together); !r) return r;
  wic::SiteSpec spec;
  spec.name = options.prefix + "mega.tiles";
  spec.word_memory = wic::WordMemory::device;
  spec.own = options.way == Way::naive ? wic::StrategyId::naive : wic::StrategyId::poll;
  spec.releasing = spec.waiting = wic::kFirstDeviceEnd;
  spec.group_warps = shape_.threads / wic::kWarpSize;
  const auto site = runtime_.add_site(spec);
  if (!site) return site.error();
  site_ = *site;
  return open_memory(device);
}

Result<> Megakernel::open_memory(wic::Device& device) {
  const auto own = wic::Memory::device;
  const std::size_t instructions = std::size_t{network_.layers} * network_.tiles;
  const std::size_t lines = std::size_t{network_.layers + 1} * network_.groups * kLineWords;
  auto weights = wic::Array<Quad>::make(device, instructions * quads_, own);
  if (!weights) return weights.error();
  auto activations = wic::Array<std::uint32_t>::make(device, (instructions + network_.tiles) * kTileWords, own);
  auto counts = wic::Array<std::uint32_t>::make(device, lines, own);
  auto ready = wic::Array<std::uint32_t>::make(device, lines, own);
  for (const auto* array : {&activations, &counts, &ready}) {
    if (!*array) return array->error();
  }
  auto queue = RankQueue::make(device);
  if (!queue) return queue.error();
  weights_ = *std::move(weights);
  activations_ = *std::move(activations);
  counts_ = *std::move(counts);
  ready_ = *std::move(ready);
  queue_ = std::make_unique<RankQueue>(*std::move(queue));
  const FillWeights fill{weights_.data(), static_cast<std::uint32_t>(weights_.size())};
  if (auto r = wic::launch(queue_->stream(), {shape_.blocks, shape_.threads}, fill); !r) return r;
  return queue_->stream().synchronize();
}

Result<> Megakernel::step(std::uint32_t) {
  Run kernel{};
  kernel.site = runtime_.site(site_, timeout_ns_);
  kernel.network = network_;
  kernel.activations = activations_.data();
  kernel.weights = weights_.data();
  kernel.quads = quads_;
  kernel.counts = counts_.data();
  kernel.ready = ready_.data();
  kernel.failure = queue_->failure();
  const NeighbourStop stop = neighbour_->next_run();
  for (std::uint32_t p = 1; p <= passes_; ++p) {
    kernel.pass = ++pass_;
    if (p == passes_) kernel.neighbour = stop;
    if (auto r = wic::launch(queue_->stream(), shape_, kernel); !r) return r;
    if (p > 1) continue;
    if (auto r = neighbour_->start(); !r) return r;
  }
  if (auto r = queue_->close(); !r) return r;
  const auto failure = queue_->finish();
  if (!failure) return failure.error();
  const Result<> beside = neighbour_->finish();
  if (failure->missed != 0) {
    return wic::failed("a deadline passed: tile " + std::to_string(failure->tag) + " of layer " +
                       std::to_string(failure->peer) + " waited at mega.tiles in pass " +
                       std::to_string(failure->failed_at));
  }
  done_ += passes_;
  return beside;
}

// Words a to a + n - 1 are their own numbers.
std::uint32_t Megakernel::sum_of_weights(std::uint32_t layer, std::uint32_t tile) const {
  const std::uint64_t n = std::uint64_t{quads_} * 4;
  const auto first =
      static_cast<std::uint32_t>((std::uint64_t{layer - 1} * network_.tiles + tile) * n);  // as the weights wrap
  return static_cast<std::uint32_t>(n * first + n * (n - 1) / 2);
}

std::vector<std::uint32_t> Megakernel::reference() const {
  std::vector<std::uint32_t> sums(network_.groups, 0), last(std::size_t{network_.tiles} * kTileWords);
  for (std::uint32_t layer = 1; layer <= network_.layers; ++layer) {
    std::vector<std::uint32_t> next(network_.groups, 0);
    for (std::uint32_t tile = 0; tile < network_.tiles; ++tile) {
      std::uint32_t sum = 0;
      for (std::uint32_t g = network_.first_group(layer, tile); g < network_.end_group(layer, tile); ++g)
        sum += sums[g];
      for (std::uint32_t i = 0; i < kTileWords; ++i) {
        const std::uint32_t value = activation(sum, sum_of_weights(layer, tile), pass_, i);
        next[tile / network_.group_tiles()] += value;
        last[std::size_t{tile} * kTileWords + i] = value;
      }
    }
    sums = next;
  }
  return last;
}

// The last pass, of which each activation depends on all tiles before.
Result<> Megakernel::check() {
  if (pass_ == 0) return wic::ok();
  const std::size_t words = std::size_t{network_.tiles} * kTileWords;
  const auto got = download(runtime_.device(0), queue_->stream(), activations_, network_.layers * words, words);
  if (!got) return got.error();
  const std::vector<std::uint32_t> expected = reference();
  for (std::size_t i = 0; i < words; ++i) {
    if ((*got)[i] == expected[i]) continue;
    return wic::failed("activation " + std::to_string(i) + " of the last layer is " + std::to_string((*got)[i]) +
                       " after pass " + std::to_string(pass_) + ", should be " + std::to_string(expected[i]));
  }
  return wic::ok();
}

}  // namespace
}  // namespace megakernel

const AppInfo& megakernel_info() {
  static const AppInfo info{"field_megakernel",
                            "one kernel for a whole network: instructions wait for the tiles that they read",
                            "tiles per layer (default: 16, on a GPU 512)",
                            "simt:1",
                            1,
                            {{"layers", "layers; 0 = 4, on a GPU 32", "0", 0, 1'024},
                             {"weights", "KiB of weights per tile; 0 = 1, on a GPU 64", "0", 0, 1u << 16},
                             {"passes", "passes over the network per step; 0 = 2, on a GPU 50", "0", 0, 1u << 16},
                             {"neighbour", Neighbour::kHelp, "none"}},
                            &megakernel::Megakernel::make,
                            {},
                            "one thread of a block polls by atomic additions",
                            nullptr,
                            kFieldNoRival};
  return info;
}

}  // namespace sample
