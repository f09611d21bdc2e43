#include "krylov/cluster.h"

#include <string>
#include <utility>

#include "common/ranks.h"
#include "krylov/host_rank.h"

namespace sample::krylov {

struct Cluster::State {
  explicit State(const ClusterOptions& o) : options(o) {}

  wic::Result<Dots> iterate(Kind kind, bool first) {
    ++number;
    for (const auto& device : devices) {
      if (auto r = device->launch(kind, first, number, options.timeout_ns); !r) return r.error();
    }
    return host->iterate(kind, first, number, static_cast<wic::TimeNs>(options.timeout_ns));
  }

  /// Waits for the devices, at most for as long as their deadlines.
  wic::Result<> settle() {
    for (std::uint32_t r = 1; r <= devices.size(); ++r) {
      const auto failure = devices[r - 1]->settle();
      if (!failure) return failure.error();
      if (failure->failed_at != 0) {
        const std::uint32_t from = failure->for_space != 0 ? r : failure->rank;
        const std::uint32_t to = failure->for_space != 0 ? failure->rank : r;
        return wic::failed("the deadline of rank " + std::to_string(r) + "'s wait at " + lane_name(from, to) +
                           (failure->for_space != 0 ? ".room" : ".data") + " passed in iteration " +
                           std::to_string(failure->failed_at) + "; raise --timeout if the machine is busy");
      }
      if (failure->wrong != 0) {
        return wic::failed("rank " + std::to_string(r) + " received messages of another iteration (" +
                           std::to_string(failure->wrong) + ")");
      }
    }
    return wic::ok();
  }

  // After one missed deadline, the other ends miss theirs in turn. A device's report is more specific than the CPU's.
  wic::Error worst_of(const wic::Error& error) {
    const auto settled = settle();
    return settled ? error : settled.error();
  }

  std::string lane_name(std::uint32_t from, std::uint32_t to) const {
    return options.prefix + "." + std::to_string(from) + "to" + std::to_string(to);
  }

  wic::Result<> make_lanes(wic::Runtime& runtime, const std::vector<RankPlan>& plans) {
    const auto end_of = [](std::uint32_t rank) {
      return rank == 0 ? wic::End::cpu() : wic::End::on(static_cast<int>(rank) - 1);
    };
    const auto ranks = static_cast<std::uint32_t>(plans.size());
    lanes.resize(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
      lanes[from].resize(ranks);
      for (const Outgoing& out : plans[from].outgoing) {
        LaneSpec spec;
        spec.name = lane_name(from, out.peer);
        spec.producer = end_of(from);
        spec.consumer = end_of(out.peer);
        spec.max_bytes = message_bytes(static_cast<std::uint32_t>(out.from.size()));
        spec.way = options.way;
        spec.rival = options.rival;
        auto lane = Lane::make(runtime, spec);
        if (!lane) return lane.error();
        lanes[from][out.peer] = *std::move(lane);
      }
    }
    return wic::ok();
  }

  std::vector<Lanes> lanes_of(std::uint32_t rank) const {
    std::vector<Lanes> of_rank;
    for (std::uint32_t peer = 0; peer < lanes.size(); ++peer) {
      if (peer != rank) of_rank.push_back({lanes[rank][peer].get(), lanes[peer][rank].get()});
    }
    return of_rank;
  }

  const ClusterOptions options;
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes;  // [from][to]
  std::unique_ptr<HostRank> host;
  std::vector<std::unique_ptr<DeviceRank>> devices;  // destroyed before the lanes, so that their kernels have ended
  std::uint32_t number = 0;                          // iterations, over all solves
};

Cluster::Cluster(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cluster::~Cluster() = default;

wic::Result<std::unique_ptr<Cluster>> Cluster::make(wic::Runtime& runtime, const std::vector<RankPlan>& plans,
                                                    const std::vector<double>& b, const ClusterOptions& options) {
  auto state = std::make_unique<State>(options);
  if (auto made = state->make_lanes(runtime, plans); !made) return made.error();
  state->host = std::make_unique<HostRank>(plans[0], b, state->lanes_of(0), options.host_threads);
  for (std::uint32_t r = 1; r < plans.size(); ++r) {
    wic::Device& device = runtime.device(r - 1);
    auto rank = DeviceRank::make(device, plans[r], b, r, state->lanes_of(r), options.shape, ranks_on(runtime, device));
    if (!rank) return rank.error();
    state->devices.push_back(*std::move(rank));
  }
  return wic::Result<std::unique_ptr<Cluster>>(std::unique_ptr<Cluster>(new Cluster(std::move(state))));
}

wic::Result<std::vector<HistoryEntry>> Cluster::solve(Schedule schedule) {
  State& s = *state_;
  s.host->reset();
  for (const auto& device : s.devices) {
    if (auto r = device->reset(); !r) return r.error();
  }
  std::vector<HistoryEntry> history;
  while (schedule.state() == Schedule::State::going) {
    const Kind kind = schedule.kind();
    const auto dots = s.iterate(kind, schedule.first());
    if (!dots) return s.worst_of(dots.error());
    history.push_back({kind, *dots});
    schedule.next(*dots);
  }
  if (auto settled = s.settle(); !settled) return settled.error();
  if (schedule.state() == Schedule::State::solved) return history;
  return wic::failed(schedule.state() == Schedule::State::breakdown
                         ? "the conjugate gradients became infinite or NaN"
                         : "no convergence in " + std::to_string(schedule.done()) + " iterations");
}

wic::Result<std::vector<double>> Cluster::read_x(std::size_t rank) {
  if (rank == 0) return state_->host->x();
  return state_->devices[rank - 1]->read_x();
}

}  // namespace sample::krylov
