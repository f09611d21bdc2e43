#include <algorithm>
#include <cstring>
#include <utility>

#include "common/host_team.h"
#include "common/lane.h"
#include "common/transfer.h"
#include "field/apps.h"
#include "field/cpu_limit.h"
#include "field/expert_dispatch/kernels.h"
#include "wic/launch.h"

namespace sample {
namespace expert_dispatch {
namespace {

using wic::Result;

constexpr std::uint32_t kHeldMib = 256;  // a layer that reads more reads its weights several times

/// A device with the host thread that launches its kernels.
struct Rank {
  std::uint32_t number = 0;
  wic::Device* device = nullptr;
  wic::LaunchShape gate, dispatch, experts;
  std::unique_ptr<Lane> counts;           // from this device to the CPU, a tag per rank
  std::vector<std::unique_ptr<Lane>> to;  // by rank; none to itself
  wic::Array<Quad> weights, x, inbox;
  wic::Array<std::uint32_t> words;  // see Word
  std::vector<std::uint32_t> sums;  // of each token
  std::uint32_t expected = 0;       // total of this rank's experts
  std::vector<double> layer_ns;
  std::unique_ptr<Neighbour> neighbour;
  Result<> outcome = wic::ok();
};
enum Word : std::size_t { kArrived = 0, kSink = 1, kTotal = 32, kWords = 64 };

class ExpertDispatch final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<ExpertDispatch> app(new ExpertDispatch(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t step) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double ranks = static_cast<double>(ranks_.size());
    const double others = ranks * layers_ * (ranks - 1);
    return {others * kChannels + ranks * ranks * layers_, others * tokens_ / ranks * quads_ * sizeof(Quad)};
  }
  Felt take_felt() override;
  std::vector<wic::SiteId> host_sites() const override {
    std::vector<wic::SiteId> sites;
    for (const Rank& rank : ranks_) sites.push_back(rank.counts->data_site());
    return sites;
  }
  std::string shape() const override {
    return std::to_string(ranks_.size()) + " ranks with " + std::to_string(tokens_) + " tokens of " +
           std::to_string(quads_ * sizeof(Quad)) + " bytes, " + std::to_string(layers_) + " layers, " +
           std::to_string(mib_) + " MiB of weights before each, " + std::to_string(late_) +
           " times as many on one rank";
  }

 private:
  ExpertDispatch(wic::Runtime& runtime, const AppOptions& options)
      : runtime_(runtime), timeout_ns_(options.timeout_ns), team_(static_cast<std::uint32_t>(runtime.device_count())) {}
  Result<> open(const AppOptions& options);
  Result<> open_lanes(const AppOptions& options);
  Result<> open_rank(Rank& rank, const AppOptions& options, NeighbourKind kind);
  Result<> fill_tokens(Rank& rank);
  Result<> run_layer(Rank& rank, std::uint32_t iteration);
  Result<> launch_gate(Rank& rank, const Layer& layer);
  Result<std::uint32_t> take_counts(Rank& rank, const Layer& layer, Dispatch& dispatch);
  void expect(std::uint32_t iteration);
  Layer layer_of(const Rank& rank, std::uint32_t iteration) const {
    return {rank.number, static_cast<std::uint32_t>(ranks_.size()), iteration, tokens_, quads_};
  }

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t tokens_ = 0, quads_ = 0, layers_ = 0, mib_ = 0, passes_ = 1, late_ = 1, cpus_ = 0, iteration_ = 0;
  std::string name_;
  HostTeam<> team_;
  std::vector<Rank> ranks_;
  std::vector<RankQueue> queues_;  // last: destroyed first, so their work ends before the memory is freed
};

Result<> ExpertDispatch::open(const AppOptions& options) {
  if (runtime_.device_count() > kMaxRanks) {
    return wic::bad_input("field_expert_dispatch runs on " + std::to_string(kMaxRanks) + " devices at most");
  }
  tokens_ = options.size != 0 ? options.size : options.on_gpu ? 1024 : 32;
  quads_ = options.number("hidden") != 0 ? options.number("hidden") / 16 : options.on_gpu ? 896 : 8;
  layers_ = options.number("layers") != 0 ? options.number("layers") : options.on_gpu ? 20 : 2;
  mib_ = options.number("weights") != 0 ? options.number("weights") : options.on_gpu ? 16 * kHeldMib : 1;
  passes_ = std::max(1u, mib_ / kHeldMib);
  late_ = options.number("late");
  cpus_ = options.number("cpus");
  name_ = options.prefix + "ep";
  const auto kind = Neighbour::kind_of(options.more.at("neighbour"));
  if (!kind) return kind.error();
  ranks_.resize(runtime_.device_count());
  for (std::uint32_t d = 0; d < ranks_.size(); ++d) {
    ranks_[d].number = d;
    ranks_[d].device = &runtime_.device(d);
    auto queue = RankQueue::make(*ranks_[d].device);
    if (!queue) return queue.error();
    queues_.push_back(*std::move(queue));
  }
  if (auto r = open_lanes(options); !r) return r;
  for (Rank& rank : ranks_) {
    if (auto r = open_rank(rank, options, *kind); !r) return r;
    if (auto r = fill_tokens(rank); !r) return r;
  }
  return wic::ok();
}

Result<> ExpertDispatch::open_lanes(const AppOptions& options) {
  LaneSpec spec;
  spec.way = options.way;
  const auto count = static_cast<std::uint32_t>(ranks_.size());
  for (std::uint32_t from = 0; from < count; ++from) {
    spec.producer = wic::End::on(static_cast<int>(from));
    spec.consumer = wic::End::cpu();
    spec.tags = count;
    spec.max_bytes = kChannels * sizeof(std::uint32_t);
    spec.name = name_ + "." + std::to_string(from) + ".counts";
    auto counts = Lane::make(runtime_, spec);
    if (!counts) return counts.error();
    ranks_[from].counts = *std::move(counts);
    ranks_[from].to.resize(count);
    spec.tags = kChannels;
    const std::size_t records = (tokens_ + kChannels - 1) / kChannels;
    spec.max_bytes = static_cast<std::uint32_t>((1 + records * (1 + quads_)) * sizeof(Quad));
    for (std::uint32_t to = 0; to < count; ++to) {
      if (to == from) continue;
      spec.consumer = wic::End::on(static_cast<int>(to));
      spec.name = lane_name(name_, from, to);
      auto lane = Lane::make(runtime_, spec);
      if (!lane) return lane.error();
      ranks_[from].to[to] = *std::move(lane);
    }
  }
  return wic::ok();
}

Result<> ExpertDispatch::open_rank(Rank& rank, const AppOptions& options, NeighbourKind kind) {
  wic::Device& device = *rank.device;
  const auto count = static_cast<std::uint32_t>(ranks_.size());
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  const std::uint32_t sms = device.properties().sm_count;
  rank.gate = {options.on_gpu ? 2 * sms : 2, *threads, Gate::shared_bytes(count)};
  rank.dispatch = {Dispatch::blocks(count), *threads};
  rank.experts = {options.on_gpu ? 2 * sms : 2, *threads};
  auto neighbour = Neighbour::make(device, kind, ranks_on(runtime_, device), timeout_ns_);
  if (!neighbour) return neighbour.error();
  rank.neighbour = *std::move(neighbour);
  const Dispatch kernel{};
  std::vector<wic::PlannedLaunch> together;
  for (std::uint32_t r = 0; r < ranks_on(runtime_, device); ++r) {
    together.push_back({rank.dispatch, wic::kernel_ref(kernel)});
    together.push_back(rank.neighbour->planned());
  }
  if (auto r = wic::check_co_resident(device, together); !r) return r;
  // Loads them: a first launch must not wait for a kernel that waits.
  if (auto r = device.resident_blocks(rank.gate, wic::kernel_ref(Gate{})); !r) return r.error();
  if (auto r = device.resident_blocks(rank.experts, wic::kernel_ref(Experts{})); !r) return r.error();
  if (auto r = device.resident_blocks({1, 32}, wic::kernel_ref(EndNeighbour{})); !r) return r.error();
  const std::size_t held = (std::size_t{std::min(mib_, kHeldMib)} << 20) / sizeof(Quad);
  auto weights = wic::Array<Quad>::make(device, held, wic::Memory::device);
  auto x = wic::Array<Quad>::make(device, std::size_t{tokens_} * quads_, wic::Memory::device);
  auto inbox = wic::Array<Quad>::make(device, std::size_t{count} * tokens_ * (1 + quads_), wic::Memory::device);
  for (const auto* array : {&weights, &x, &inbox}) {
    if (!*array) return array->error();
  }
  auto words = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::device);
  if (!words) return words.error();
  rank.weights = *std::move(weights);
  rank.x = *std::move(x);
  rank.inbox = *std::move(inbox);
  rank.words = *std::move(words);
  return wic::ok();
}

Result<> ExpertDispatch::fill_tokens(Rank& rank) {
  const Layer layer = layer_of(rank, 0);
  rank.sums.assign(tokens_, 0);
  for (std::uint32_t t = 0; t < tokens_; ++t) {
    for (std::uint32_t i = 0; i < 4 * quads_; ++i) rank.sums[t] += word_of(layer, rank.number, t, i / 4, i % 4);
  }
  wic::Stream& stream = queues_[rank.number].stream();
  if (auto r = wic::launch(stream, rank.experts, FillTokens{layer, rank.x.data()}); !r) return r;
  return stream.synchronize();
}

Result<> ExpertDispatch::step(std::uint32_t) {
  std::vector<NeighbourStop> stops;
  for (Rank& rank : ranks_) {
    stops.push_back(rank.neighbour->next_run());
    if (auto r = rank.neighbour->start(); !r) return r;
  }
  team_.run([this](std::uint32_t member, std::uint32_t) {
    const CpuLimit limit(cpus_);
    Rank& rank = ranks_[member];
    for (std::uint32_t l = 1; l <= layers_ && rank.outcome; ++l) {
      const wic::TimeNs begin = wic::now_ns();
      static_cast<void>(rank.outcome = run_layer(rank, iteration_ + l));  // nvcc: the class is nodiscard
      rank.layer_ns.push_back(static_cast<double>(wic::now_ns() - begin));
    }
  });
  for (Rank& rank : ranks_) {
    const EndNeighbour end{stops[rank.number]};
    if (auto r = wic::launch(queues_[rank.number].stream(), {1, 32}, end); !r) return r;
  }
  const Result<> finished = finish_all(queues_, name_);
  for (Rank& rank : ranks_) {
    const Result<> beside = rank.neighbour->finish();
    if (!rank.outcome) return rank.outcome;
    if (finished && !beside) return beside;
  }
  if (!finished) return finished;
  for (std::uint32_t l = 1; l <= layers_; ++l) expect(iteration_ + l);
  iteration_ += layers_;
  return check();
}

Result<> ExpertDispatch::run_layer(Rank& rank, std::uint32_t iteration) {
  const Layer layer = layer_of(rank, iteration);
  if (auto r = launch_gate(rank, layer); !r) return r;
  Dispatch dispatch{};
  const auto tokens = take_counts(rank, layer, dispatch);
  if (!tokens) return tokens.error();
  dispatch.layer = layer;
  dispatch.x = rank.x.data();
  dispatch.inbox = rank.inbox.data();
  dispatch.failure = queues_[rank.number].failure();
  dispatch.timeout_ns = timeout_ns_;
  for (std::uint32_t peer = 0; peer < ranks_.size(); ++peer) {
    if (peer == rank.number) continue;
    const Lane::Turn out = rank.to[peer]->turn(iteration), in = ranks_[peer].to[rank.number]->turn(iteration);
    dispatch.peers[peer] = {out.sender(), in.receiver(), out.cycle, in.cycle};
  }
  wic::Stream& stream = queues_[rank.number].stream();
  if (auto r = wic::launch(stream, rank.dispatch, dispatch); !r) return r;
  return wic::launch(stream, rank.experts, Experts{layer, rank.inbox.data(), *tokens, rank.words.data() + kTotal});
}

Result<> ExpertDispatch::launch_gate(Rank& rank, const Layer& layer) {
  const Lane::Turn turn = rank.counts->turn(layer.iteration);
  Gate gate{};
  gate.layer = layer;
  gate.weights = rank.weights.data();
  gate.count = static_cast<std::uint32_t>(rank.weights.size());
  gate.passes = passes_ * (layer.iteration % layer.ranks == rank.number ? late_ : 1);
  gate.arrived = rank.words.data() + kArrived;
  gate.sink = rank.words.data() + kSink;
  gate.counts = turn.sender();
  gate.cycle = turn.cycle;
  gate.failure = queues_[rank.number].failure();
  gate.timeout_ns = timeout_ns_;
  return wic::launch(queues_[rank.number].stream(), rank.gate, gate);
}

// The host thread waits for every rank's counts: only then are the sizes of what follows known. Returns the number of
// tokens that the rank gets.
Result<std::uint32_t> ExpertDispatch::take_counts(Rank& rank, const Layer& layer, Dispatch& dispatch) {
  std::uint32_t tokens = 0;
  for (std::uint32_t from = 0; from < layer.ranks; ++from) {
    const Lane::Turn turn = ranks_[from].counts->turn(layer.iteration);
    const wic::Channel::HostMessage message =
        turn.channel->receive(rank.number, turn.cycle, static_cast<wic::TimeNs>(timeout_ns_));
    if (!message.wait) {
      return wic::failed("a deadline passed: the host thread of rank " + std::to_string(rank.number) +
                         " waited for the counts of rank " + std::to_string(from) + " in layer " +
                         std::to_string(layer.iteration));
    }
    std::uint32_t counts[kChannels];
    std::memcpy(counts, message.data.data(), sizeof counts);
    turn.channel->release(rank.number, turn.cycle);
    for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
      dispatch.at[from * kChannels + channel] = tokens;
      tokens += counts[channel];
    }
  }
  return tokens;
}

void ExpertDispatch::expect(std::uint32_t iteration) {
  for (const Rank& from : ranks_) {
    const Layer layer = layer_of(from, iteration);
    for (std::uint32_t t = 0; t < tokens_; ++t) {
      const std::uint32_t expert = layer.expert_of(from.number, t);
      ranks_[expert / kExpertsPerRank].expected += (expert + 1) * from.sums[t];
    }
  }
}

Result<> ExpertDispatch::check() {
  for (Rank& rank : ranks_) {
    const auto total = download(*rank.device, queues_[rank.number].stream(), rank.words, kTotal, 1);
    if (!total) return total.error();
    if (total->front() == rank.expected) continue;
    return wic::failed("the experts of rank " + std::to_string(rank.number) + " add up to " +
                       std::to_string(total->front()) + " after layer " + std::to_string(iteration_) + ", should be " +
                       std::to_string(rank.expected));
  }
  return wic::ok();
}

Felt ExpertDispatch::take_felt() {
  Felt felt;
  felt.unit = "tokens";
  felt.beside_unit = ranks_.front().neighbour->unit();
  for (Rank& rank : ranks_) {
    felt.work += static_cast<double>(rank.layer_ns.size()) * tokens_;
    felt.latency_ns.insert(felt.latency_ns.end(), rank.layer_ns.begin(), rank.layer_ns.end());
    rank.layer_ns.clear();
    felt.beside += rank.neighbour->take_work();
  }
  return felt;
}

}  // namespace
}  // namespace expert_dispatch

const AppInfo& expert_dispatch_info() {
  static const AppInfo info{
      "field_expert_dispatch",
      "experts on several devices: the hosts wait for counts of tokens, blocks for the tokens",
      "tokens per rank and layer (default: 32, on GPUs 1024)",
      "simt:2",
      2,
      {{"hidden", "bytes per token; 0 = 128, on GPUs 14336", "0", 0, 1u << 20},
       {"layers", "layers per step; 0 = 2, on GPUs 20", "0", 0, 1u << 16},
       {"weights", "MiB that a rank reads before it knows its counts; 0 = 1, on GPUs 4096", "0", 0, 1u << 20},
       {"late", "times as much for one rank, another in each layer", "2", 1, 100},
       {"neighbour", Neighbour::kHelp, "memory"},
       {"cpus", "CPUs that the ranks' host threads share; 0 = all", "0", 0, 1'024}},
      &expert_dispatch::ExpertDispatch::make,
      {},
      "Algorithm 1 of the WIC paper",
      nullptr,
      kFieldNoRival};
  return info;
}

}  // namespace sample
