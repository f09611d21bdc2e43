#include "g_kmn/app.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "common/transfer.h"
#include "common/waiting_blocks.h"
#include "g_kmn/check.h"
#include "g_kmn/kernels.h"
#include "wic/launch.h"

namespace sample {
namespace kmn {
namespace {

using wic::Result;

constexpr std::uint64_t kSeed = 0x6b6d6e;

/// A device that clusters the stream, with its own initial centroids.
struct Consumer {
  wic::Device* device = nullptr;
  std::unique_ptr<Lane> lane;
  std::array<std::uint32_t, 2> cycles{};  ///< used so far, per way of waiting
  wic::Array<Point> centroids;
  wic::Array<std::uint64_t> sums;
  wic::Array<std::uint8_t> labels;
  Consume kernel{};
};

class KMeans final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options);

  Result<> step(std::uint32_t step) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double consumers = static_cast<double>(consumers_.size());
    return {consumers * cut_.tiles() * cut_.tags,
            consumers * static_cast<double>(cut_.points) * static_cast<double>(sizeof(Point))};
  }
  std::string shape() const override {
    return std::to_string(cut_.points) + " points of " + std::to_string(kDims) + " dimensions in " +
           std::to_string(cut_.tiles()) + " tiles, " + std::to_string(clusters_) + " clusters, " +
           std::to_string(consumers_.size()) + (consumers_.size() == 1 ? " start, " : " starts, ") +
           std::to_string(cut_.tags) + " blocks of " + std::to_string(consume_shape_.threads);
  }

 private:
  KMeans(wic::Runtime& runtime, std::uint64_t timeout_ns) : runtime_(runtime), timeout_ns_(timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> choose_shapes(const AppOptions& options);
  Result<> open_consumer(std::size_t c, const AppOptions& options);
  Result<Round> last_round(std::size_t c) const;  // of consumer `c`

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  Cut cut_;
  std::uint32_t clusters_ = 0;
  std::uint32_t rounds_ = 0;
  wic::LaunchShape produce_shape_, consume_shape_;
  std::string name_;
  std::vector<Consumer> consumers_;  // on devices 1, 2, ...
  std::vector<RankQueue>
      queues_;  // one per device; last: destroyed first, so their work ends before the memory is freed
};

Result<std::unique_ptr<App>> KMeans::make(wic::Runtime& runtime, const AppOptions& options) {
  std::unique_ptr<KMeans> app(new KMeans(runtime, options.timeout_ns));
  if (Result<> opened = app->open(options); !opened) return opened.error();
  return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
}

Result<> KMeans::open(const AppOptions& options) {
  if (runtime_.device_count() > kMaxConsumers + 1) {
    return wic::bad_input("g_kmn streams to " + std::to_string(kMaxConsumers) + " devices at most");
  }
  clusters_ = options.number("clusters");
  cut_.points = options.size != 0 ? options.size : options.on_gpu ? 1u << 23 : 1024;
  if (Result<> chosen = choose_shapes(options); !chosen) return chosen;
  name_ = options.prefix + "kmn";
  for (std::size_t d = 0; d < runtime_.device_count(); ++d) {
    auto queue = RankQueue::make(runtime_.device(d));
    if (!queue) return queue.error();
    queues_.push_back(*std::move(queue));
  }
  consumers_.resize(runtime_.device_count() - 1);
  for (std::size_t c = 0; c < consumers_.size(); ++c) {
    if (Result<> opened = open_consumer(c, options); !opened) return opened;
  }
  return wic::ok();
}

// One block waits per tag. If the devices cannot hold that many blocks at once, a block handles several tags.
Result<> KMeans::choose_shapes(const AppOptions& options) {
  const std::uint32_t threads = options.block_size != 0 ? options.block_size : options.on_gpu ? 256 : 64;
  consume_shape_ = {1, threads, Clusters{clusters_, nullptr, nullptr, nullptr}.shared_bytes(), true};
  produce_shape_ = {1, threads, 0, true};
  std::uint32_t max_blocks = ~0u;
  for (std::size_t d = 1; d < runtime_.device_count(); ++d) {
    const auto fits = max_waiting_blocks(runtime_, runtime_.device(d), consume_shape_, wic::kernel_ref(Consume{}));
    if (!fits) return fits.error();
    max_blocks = std::min(max_blocks, *fits);
  }
  const auto lanes = static_cast<std::uint32_t>(runtime_.device_count() - 1);
  const auto producers = max_waiting_blocks(runtime_, runtime_.device(0), produce_shape_, wic::kernel_ref(Produce{}),
                                            agent_blocks(options.rival, options.on_gpu, lanes));
  if (!producers) return producers.error();
  // Cut few points into smaller parts: a round with a single tile would not stream and would leave no work to overlap.
  const auto fine =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(cut_.points / (std::uint64_t{8} * max_blocks), 2 * threads));
  const std::uint32_t default_part = options.on_gpu ? std::max(fine, wic::kWarpSize) : threads;
  cut_.part = options.number("part") != 0 ? options.number("part") : default_part;
  const std::uint64_t parts = (cut_.points + cut_.part - 1) / cut_.part;
  // A few blocks suffice on the CPU device.
  const std::uint32_t default_blocks = options.on_gpu ? max_blocks : std::min(max_blocks, 4u);
  cut_.tags =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options.blocks != 0 ? options.blocks : default_blocks, parts));
  consume_shape_.blocks = std::min(cut_.tags, max_blocks);
  produce_shape_.blocks = std::min(cut_.tags, *producers);
  return wic::ok();
}

Result<> KMeans::open_consumer(std::size_t c, const AppOptions& options) {
  Consumer& consumer = consumers_[c];
  consumer.device = &runtime_.device(c + 1);
  wic::Device& device = *consumer.device;
  LaneSpec spec;
  spec.name = lane_name(name_, 0, static_cast<std::uint32_t>(c + 1));
  spec.producer = wic::End::on(0);
  spec.consumer = wic::End::on(static_cast<int>(c + 1));
  spec.tags = cut_.tags;
  spec.max_bytes = cut_.part * static_cast<std::uint32_t>(sizeof(Point));
  spec.way = options.way;
  spec.rival = options.rival;
  auto lane = Lane::make(runtime_, spec);
  if (!lane) return lane.error();
  auto centroids = wic::Array<Point>::make(device, std::size_t{2} * clusters_, wic::Memory::device);
  if (!centroids) return centroids.error();
  auto sums = wic::Array<std::uint64_t>::make(device, std::size_t{3} * clusters_ * kSumsOfCluster, wic::Memory::device);
  if (!sums) return sums.error();
  auto labels = wic::Array<std::uint8_t>::make(device, std::size_t{cut_.tags} * cut_.part, wic::Memory::device);
  if (!labels) return labels.error();
  // Round 0 has no points, so round 1 starts with round 0's centroids.
  const auto first = first_centroids(kSeed, cut_.points, clusters_, static_cast<std::uint32_t>(c));
  if (auto r = upload<Point>(device, queues_[c + 1].stream(), *centroids, first); !r) return r;
  consumer.lane = *std::move(lane);
  consumer.centroids = *std::move(centroids);
  consumer.sums = *std::move(sums);
  consumer.labels = *std::move(labels);
  consumer.kernel.cut = cut_;
  consumer.kernel.clusters = {clusters_, consumer.centroids.data(), consumer.sums.data(), consumer.labels.data()};
  consumer.kernel.failure = queues_[c + 1].failure();
  consumer.kernel.timeout_ns = timeout_ns_;
  return wic::ok();
}

Result<> KMeans::step(std::uint32_t step) {
  Produce produce{};
  produce.cut = cut_;
  produce.seed = kSeed;
  produce.consumers = static_cast<std::uint32_t>(consumers_.size());
  produce.failure = queues_[0].failure();
  produce.timeout_ns = timeout_ns_;
  const std::uint32_t tiles = cut_.tiles();
  for (std::size_t c = 0; c < consumers_.size(); ++c) {
    Consumer& consumer = consumers_[c];
    // A round keeps the way of waiting that it starts with.
    const Lane::Turn turn = consumer.lane->turn(step);
    const Numbers numbers{consumer.cycles[turn.way_index] + 1, (step - 1) * tiles + 1};
    consumer.cycles[turn.way_index] += tiles;
    produce.senders[c] = turn.sender();
    produce.numbers[c] = numbers;
    consumer.kernel.receiver = turn.receiver();
    consumer.kernel.numbers = numbers;
    consumer.kernel.round = step;
    if (auto r = consumer.lane->carry(turn, numbers.of(0), tiles, timeout_ns_); !r) return r;
    if (auto r = wic::launch(queues_[c + 1].stream(), consume_shape_, consumer.kernel); !r) return r;
  }
  if (auto r = wic::launch(queues_[0].stream(), produce_shape_, produce); !r) return r;
  rounds_ = step;
  return finish_all(queues_, name_);
}

Result<Round> KMeans::last_round(std::size_t c) const {
  const Consumer& consumer = consumers_[c];
  wic::Stream& stream = queues_[c + 1].stream();
  auto centroids = download(*consumer.device, stream, consumer.centroids,
                            static_cast<std::size_t>(rounds_ & 1) * clusters_, clusters_);
  if (!centroids) return centroids.error();
  const std::size_t values = std::size_t{clusters_} * kSumsOfCluster;
  auto sums = download(*consumer.device, stream, consumer.sums, rounds_ % 3 * values, values);
  if (!sums) return sums.error();
  return Round{*std::move(centroids), *std::move(sums)};
}

Result<> KMeans::check() {
  if (rounds_ == 0) return wic::ok();
  const Sequential reference{kSeed, cut_.points, clusters_};
  for (std::size_t c = 0; c < consumers_.size(); ++c) {
    const auto round = last_round(c);
    if (!round) return round.error();
    const auto share = kMaxCheckWork / static_cast<double>(consumers_.size());
    if (Result<> right = reference.compare(*round, rounds_, static_cast<std::uint32_t>(c), share); !right) return right;
  }
  return wic::ok();
}

}  // namespace
}  // namespace kmn

const AppInfo& g_kmn_info() {
  static const AppInfo info{
      "g_kmn",
      "k-means: the first device streams points to the others, which cluster them",
      "points (default: 1024, on GPUs 2^23)",
      "simt:2",
      2,
      {{"clusters", "number of clusters", "16", 1, kmn::kMaxClusters},
       {"part",
        "points per message; 0 = threads per block, on GPUs twice as many, but fewer if a round would have less than "
        "eight tiles",
        "0", 0, 1u << 16}},
      &kmn::KMeans::make,
      {{Rival::gps,
        "the program makes its points in the consumers' memory, which is what GPS does: use --wait alone"}}};
  return info;
}

}  // namespace sample
