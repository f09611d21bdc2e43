#include <algorithm>
#include <span>
#include <utility>

#include "common/transfer.h"
#include "field/all_reduce/kernels.h"
#include "field/apps.h"
#include "wic/launch.h"

namespace sample {
namespace all_reduce {
namespace {

using wic::Result;

constexpr std::uint32_t kHeldMib = 256;  // a round that reads more reads its weights several times
enum Word : std::size_t { kTotal = 0, kSink = kLineWords, kWords = 2 * kLineWords };

struct Rank {
  std::uint32_t number = 0;
  wic::Device* device = nullptr;
  wic::SiteId site = 0;
  wic::LaunchShape produce;
  wic::Array<Quad> weights, sums;
  wic::Array<Quad> values;  // of two rounds in turn: a rank may be one ahead of those that read its values
  wic::Array<std::uint32_t> flags, words;
  wic::Array<Times> times, host_times;
  std::uint32_t expected = 0;
  std::unique_ptr<Neighbour> neighbour;
};

class OneShot final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<OneShot> app(new OneShot(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double others = static_cast<double>(ranks_.size() * (ranks_.size() - 1)) * rounds_;
    return {others * shape_.blocks, others * quads_ * sizeof(Quad)};
  }
  Felt take_felt() override;
  std::string shape() const override {
    return std::to_string(ranks_.size()) + " ranks, " + std::to_string(quads_ * sizeof(Quad)) + " bytes by " +
           std::to_string(shape_.blocks) + " blocks, " + std::to_string(rounds_) + " rounds, " + std::to_string(mib_) +
           " MiB of weights before each, " + std::to_string(late_) + " times as many on one rank";
  }

 private:
  OneShot(wic::Runtime& runtime, const AppOptions& options) : runtime_(runtime), timeout_ns_(options.timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> open_rank(Rank& rank, const AppOptions& options, NeighbourKind kind);
  Result<> open_memory(Rank& rank);
  Result<> launch(Rank& rank, std::uint32_t round);
  Result<> finish();

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t quads_ = 0, rounds_ = 0, mib_ = 0, passes_ = 1, late_ = 1, round_ = 0;
  std::string name_;
  wic::LaunchShape shape_;
  std::vector<double> round_ns_;
  std::vector<Rank> ranks_;
  std::vector<RankQueue> queues_;  // last: destroyed first, so their work ends before the memory is freed
};

Result<> OneShot::open(const AppOptions& options) {
  if (runtime_.device_count() > kMaxRanks) {
    return wic::bad_input("field_all_reduce runs on " + std::to_string(kMaxRanks) + " devices at most");
  }
  quads_ = (options.size != 0 ? options.size : options.on_gpu ? 64 : 4) * 1024 / sizeof(Quad);
  rounds_ = options.number("rounds") != 0 ? options.number("rounds") : options.on_gpu ? 100 : 4;
  mib_ = options.number("weights") != 0 ? options.number("weights") : options.on_gpu ? kHeldMib : 1;
  passes_ = std::max(1u, mib_ / kHeldMib);
  late_ = options.number("late");
  name_ = options.prefix + "ar";
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  shape_ = {options.blocks != 0 ? options.blocks : options.on_gpu ? 36 : 2, *threads};
  const auto kind = Neighbour::kind_of(options.more.at("neighbour"));
  if (!kind) return kind.error();
  ranks_.resize(runtime_.device_count());
  for (std::uint32_t d = 0; d < ranks_.size(); ++d) {
    ranks_[d].number = d;
    ranks_[d].device = &runtime_.device(d);
    for (std::uint32_t peer = 0; peer < ranks_.size(); ++peer) {
      if (runtime_.device(d).peer_access(runtime_.device(peer)).reach) continue;
      return wic::bad_input("device " + std::to_string(d) + " cannot reach the memory of device " +
                            std::to_string(peer) + ": choose devices that can");
    }
    auto queue = RankQueue::make(*ranks_[d].device);
    if (!queue) return queue.error();
    queues_.push_back(*std::move(queue));
  }
  for (Rank& rank : ranks_) {
    if (auto r = open_rank(rank, options, *kind); !r) return r;
    if (auto r = open_memory(rank); !r) return r;
  }
  return wic::ok();
}

Result<> OneShot::open_rank(Rank& rank, const AppOptions& options, NeighbourKind kind) {
  wic::Device& device = *rank.device;
  rank.produce = {options.on_gpu ? 2 * device.properties().sm_count : 2, shape_.threads};
  wic::SiteSpec spec;
  spec.name = name_ + "." + std::to_string(rank.number) + ".flags";
  spec.word_memory = wic::WordMemory::device;
  spec.own = options.way == Way::naive ? wic::StrategyId::naive : wic::StrategyId::poll;
  spec.waiting = static_cast<wic::SiteEnd>(wic::kFirstDeviceEnd + rank.number);
  spec.group_warps = shape_.threads / wic::kWarpSize;
  const auto site = runtime_.add_site(spec);
  if (!site) return site.error();
  rank.site = *site;
  const std::uint32_t sharing = ranks_on(runtime_, device);
  auto neighbour = Neighbour::make(device, kind, sharing, timeout_ns_);
  if (!neighbour) return neighbour.error();
  rank.neighbour = *std::move(neighbour);
  const AllReduce kernel{};
  std::vector<wic::PlannedLaunch> together;
  for (std::uint32_t r = 0; r < sharing; ++r) {
    together.push_back({shape_, wic::kernel_ref(kernel)});
    together.push_back(rank.neighbour->planned());
  }
  if (auto r = wic::check_co_resident(device, together); !r) return r;
  // Loads them: a first launch must not wait for a kernel that waits.
  if (auto r = device.resident_blocks(rank.produce, wic::kernel_ref(Produce{})); !r) return r.error();
  if (auto r = device.resident_blocks({1, 32}, wic::kernel_ref(EndNeighbour{})); !r) return r.error();
  return wic::ok();
}

Result<> OneShot::open_memory(Rank& rank) {
  wic::Device& device = *rank.device;
  const auto own = wic::Memory::device;
  auto weights = wic::Array<Quad>::make(device, (std::size_t{std::min(mib_, kHeldMib)} << 20) / sizeof(Quad), own);
  auto sums = wic::Array<Quad>::make(device, quads_, own);
  auto values = wic::Array<Quad>::make(device, 2 * std::size_t{quads_}, own);
  for (const auto* array : {&weights, &sums, &values}) {
    if (!*array) return array->error();
  }
  auto flags = wic::Array<std::uint32_t>::make(device, std::size_t{shape_.blocks} * kMaxRanks * kLineWords, own);
  if (!flags) return flags.error();
  auto words = wic::Array<std::uint32_t>::make(device, kWords, own);
  if (!words) return words.error();
  auto times = wic::Array<Times>::make(device, rounds_, own);
  if (!times) return times.error();
  auto host_times = wic::Array<Times>::make(device, rounds_, wic::Memory::pinned_host);
  if (!host_times) return host_times.error();
  rank.weights = *std::move(weights);
  rank.sums = *std::move(sums);
  rank.values = *std::move(values);
  rank.flags = *std::move(flags);
  rank.words = *std::move(words);
  rank.times = *std::move(times);
  rank.host_times = *std::move(host_times);
  return wic::ok();
}

Result<> OneShot::step(std::uint32_t) {
  std::vector<NeighbourStop> stops;
  for (Rank& rank : ranks_) {
    stops.push_back(rank.neighbour->next_run());
    if (auto r = rank.neighbour->start(); !r) return r;
  }
  for (std::uint32_t round = round_ + 1; round <= round_ + rounds_; ++round) {
    for (Rank& rank : ranks_) {
      if (auto r = launch(rank, round); !r) return r;
    }
  }
  for (Rank& rank : ranks_) {
    wic::Stream& stream = queues_[rank.number].stream();
    if (auto r = wic::launch(stream, {1, 32}, EndNeighbour{stops[rank.number]}); !r) return r;
    if (auto r = stream.copy(rank.host_times.data(), rank.times.data(), rank.times.bytes()); !r) return r;
  }
  const Result<> finished = finish();
  for (Rank& rank : ranks_) {
    const Result<> beside = rank.neighbour->finish();
    if (finished && !beside) return beside;
    for (const Times& times : std::span(rank.host_times.data(), rounds_)) {
      round_ns_.push_back(static_cast<double>(times.end_ns - times.begin_ns));
    }
  }
  if (!finished) return finished;
  for (std::uint32_t round = round_ + 1; round <= round_ + rounds_; ++round) {
    std::uint32_t sum = 0;
    for (const Rank& rank : ranks_) sum += Values::of(rank.number, round).sum(4 * quads_);
    for (Rank& rank : ranks_) rank.expected += sum;
  }
  round_ += rounds_;
  return wic::ok();
}

Result<> OneShot::launch(Rank& rank, std::uint32_t round) {
  wic::Stream& stream = queues_[rank.number].stream();
  const std::size_t half = round % 2 * std::size_t{quads_};
  Produce produce{};
  produce.rank = rank.number;
  produce.round = round;
  produce.weights = rank.weights.data();
  produce.count = static_cast<std::uint32_t>(rank.weights.size());
  produce.passes = passes_ * (round % ranks_.size() == rank.number ? late_ : 1);
  produce.values = rank.values.data() + half;
  produce.quads = quads_;
  produce.sink = rank.words.data() + kSink;
  if (auto r = wic::launch(stream, rank.produce, produce); !r) return r;
  AllReduce reduce{};
  reduce.site = runtime_.site(rank.site, timeout_ns_, rank.number);
  for (const Rank& each : ranks_) {
    reduce.sites[each.number] = each.site;
    reduce.values[each.number] = each.values.data() + half;
    reduce.flags[each.number] = each.flags.data();
  }
  reduce.rank = rank.number;
  reduce.ranks = static_cast<std::uint32_t>(ranks_.size());
  reduce.round = round;
  reduce.quads = quads_;
  reduce.sums = rank.sums.data();
  reduce.total = rank.words.data() + kTotal;
  reduce.times = rank.times.data() + (round - round_ - 1);
  reduce.failure = queues_[rank.number].failure();
  return wic::launch(stream, shape_, reduce);
}

Result<> OneShot::finish() {
  for (RankQueue& queue : queues_) {
    if (auto r = queue.close(); !r) return r;
  }
  Result<> outcome = wic::ok();
  for (const Rank& rank : ranks_) {
    const auto failure = queues_[rank.number].finish();
    if (!failure) return failure.error();
    if (failure->missed == 0 || !outcome) continue;
    static_cast<void>(outcome = wic::failed("a deadline passed in round " + std::to_string(failure->failed_at) +
                                            ": rank " + std::to_string(rank.number) + " waited at " + name_ + "." +
                                            std::to_string(rank.number) + ".flags for rank " +
                                            std::to_string(failure->peer)));  // nvcc: the class is nodiscard
  }
  return outcome;
}

Result<> OneShot::check() {
  for (Rank& rank : ranks_) {
    const auto total = download(*rank.device, queues_[rank.number].stream(), rank.words, kTotal, 1);
    if (!total) return total.error();
    if (total->front() == rank.expected) continue;
    return wic::failed("the sums of rank " + std::to_string(rank.number) + " add up to " +
                       std::to_string(total->front()) + " after round " + std::to_string(round_) + ", should be " +
                       std::to_string(rank.expected));
  }
  return wic::ok();
}

Felt OneShot::take_felt() {
  Felt felt;
  felt.unit = "rounds";
  felt.work = static_cast<double>(round_ns_.size()) / static_cast<double>(ranks_.size());
  felt.latency_ns = std::exchange(round_ns_, {});
  felt.beside_unit = ranks_.front().neighbour->unit();
  for (Rank& rank : ranks_) felt.beside += rank.neighbour->take_work();
  return felt;
}

}  // namespace
}  // namespace all_reduce

const AppInfo& all_reduce_info() {
  static const AppInfo info{
      "field_all_reduce",
      "a one-shot all-reduce of small messages: blocks wait for the other ranks, one of which is late",
      "KiB that each rank has (default: 4, on GPUs 64)",
      "simt:2",
      2,
      {{"rounds", "rounds per step; 0 = 4, on GPUs 100", "0", 0, 1u << 16},
       {"weights", "MiB that a rank reads before a round; 0 = 1, on GPUs 256", "0", 0, 1u << 20},
       {"late", "times as much for one rank, another in each round", "2", 1, 100},
       {"neighbour", Neighbour::kHelp, "compute"}},
      &all_reduce::OneShot::make,
      {},
      "one thread of a block polls by atomic additions",
      nullptr,
      kFieldNoRival};
  return info;
}

}  // namespace sample
