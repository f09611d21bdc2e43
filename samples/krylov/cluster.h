// All ranks: rank 0 is the CPU, the others are the devices, in the order of --devices; and a lane from each to each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "krylov/host_rank.h"
#include "krylov/schedule.h"

namespace sample::krylov {

struct ClusterOptions {
  std::string prefix;  ///< of the lanes' names: "PREFIX.0to1" and so on
  wic::Way way = wic::Way::poll;
  ShapeWish shape;
  std::uint32_t host_threads = 1;
  std::uint64_t timeout_ns = 10'000'000'000;
};

class Cluster {
 public:
  /// A plan for each rank: one more than the runtime has devices, at most kMostRanks. Plans and runtime must outlive this.
  static wicprof::Result<std::unique_ptr<Cluster>> make(wic::Runtime& runtime, const std::vector<RankPlan>& plans,
                                                        const std::vector<double>& b, const ClusterOptions& options) {
    std::unique_ptr<Cluster> cluster(new Cluster(options));
    if (auto made = cluster->make_lanes(runtime, plans); !made) return made.error();
    cluster->host_ = std::make_unique<HostRank>(plans[0], b, cluster->lanes_of(0), options.host_threads);
    for (std::uint32_t r = 1; r < plans.size(); ++r) {
      wic::Device& device = runtime.device(r - 1);
      auto rank = DeviceRank::make(device, plans[r], b, r, cluster->lanes_of(r), options.shape, ranks_on(runtime, device));
      if (!rank) return rank.error();
      cluster->devices_.push_back(*std::move(rank));
    }
    return wicprof::Result<std::unique_ptr<Cluster>>(std::move(cluster));
  }

  /// A solve from x = 0. Its history is the same whenever it is done. Errors: wicprof::failed when a deadline passed, a
  /// message was wrong or the iteration did not converge.
  wicprof::Result<std::vector<HistoryEntry>> solve(Schedule schedule) {
    host_->reset();
    for (const auto& device : devices_) {
      if (auto r = device->reset(); !r) return r.error();
    }
    std::vector<HistoryEntry> history;
    while (schedule.state() == Schedule::State::going) {
      const Kind kind = schedule.kind();
      const auto dots = iterate(kind, schedule.first());
      if (!dots) return worst_of(dots.error());
      history.push_back({kind, *dots});
      schedule.next(*dots);
    }
    if (auto settled = settle(); !settled) return settled.error();
    if (schedule.state() == Schedule::State::solved) return history;
    return wicprof::failed(schedule.state() == Schedule::State::breakdown
                               ? "the conjugate gradients are no numbers any more"
                               : "no convergence in " + std::to_string(schedule.done()) + " iterations");
  }

  /// x of the rows of a rank, in their order there.
  wicprof::Result<std::vector<double>> read_x(std::size_t rank) {
    if (rank == 0) return host_->x();
    return devices_[rank - 1]->read_x();
  }

  std::uint32_t iterations() const { return number_; }  ///< over all solves

 private:
  explicit Cluster(const ClusterOptions& options) : options_(options) {}

  wicprof::Result<Dots> iterate(Kind kind, bool first) {
    ++number_;
    for (const auto& device : devices_) {
      if (auto r = device->launch(kind, first, number_, options_.timeout_ns); !r) return r.error();
    }
    return host_->iterate(kind, first, number_, static_cast<wicprof::TimeNs>(options_.timeout_ns));
  }

  /// Waits for the devices, at most for as long as their deadlines.
  wicprof::Result<> settle() {
    for (std::uint32_t r = 1; r <= devices_.size(); ++r) {
      const auto trouble = devices_[r - 1]->settle();
      if (!trouble) return trouble.error();
      if (trouble->failed_at != 0) {
        const std::uint32_t from = trouble->for_room != 0 ? r : trouble->rank;
        const std::uint32_t to = trouble->for_room != 0 ? trouble->rank : r;
        return wicprof::failed("the deadline of rank " + std::to_string(r) + "'s wait at " + lane_name(from, to) +
                               (trouble->for_room != 0 ? ".room" : ".data") + " passed in iteration " +
                               std::to_string(trouble->failed_at) + "; raise --timeout if the machine is busy");
      }
      if (trouble->wrong != 0) {
        return wicprof::failed("rank " + std::to_string(r) + " was given messages of another iteration (" +
                               std::to_string(trouble->wrong) + ")");
      }
    }
    return wicprof::ok();
  }

  // After a deadline has passed at one end the others' pass in turn; a device's says more than that the CPU waited in vain.
  wicprof::Error worst_of(const wicprof::Error& error) {
    const auto settled = settle();
    return settled ? error : settled.error();
  }

  std::string lane_name(std::uint32_t from, std::uint32_t to) const {
    return options_.prefix + "." + std::to_string(from) + "to" + std::to_string(to);
  }

  wicprof::Result<> make_lanes(wic::Runtime& runtime, const std::vector<RankPlan>& plans) {
    const auto end_of = [](std::uint32_t rank) {
      return rank == 0 ? wic::End::cpu() : wic::End::on(static_cast<int>(rank) - 1);
    };
    const auto ranks = static_cast<std::uint32_t>(plans.size());
    lanes_.resize(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
      lanes_[from].resize(ranks);
      for (const Outgoing& out : plans[from].outgoing) {
        LaneSpec spec;
        spec.name = lane_name(from, out.peer);
        spec.producer = end_of(from);
        spec.consumer = end_of(out.peer);
        spec.max_bytes = message_bytes(static_cast<std::uint32_t>(out.from.size()));
        spec.way = options_.way;
        auto lane = Lane::make(runtime, spec);
        if (!lane) return lane.error();
        lanes_[from][out.peer] = *std::move(lane);
      }
    }
    return wicprof::ok();
  }

  std::vector<Lanes> lanes_of(std::uint32_t rank) const {
    std::vector<Lanes> lanes;
    for (std::uint32_t peer = 0; peer < lanes_.size(); ++peer) {
      if (peer != rank) lanes.push_back({lanes_[rank][peer].get(), lanes_[peer][rank].get()});
    }
    return lanes;
  }

  static std::uint32_t ranks_on(const wic::Runtime& runtime, const wic::Device& device) {
    std::uint32_t count = 0;
    for (std::size_t d = 0; d < runtime.device_count(); ++d) {
      count += runtime.device(d).properties().id == device.properties().id ? 1 : 0;
    }
    return count;
  }

  const ClusterOptions options_;
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes_;  // [from][to]
  std::unique_ptr<HostRank> host_;
  std::vector<std::unique_ptr<DeviceRank>> devices_;  // before the lanes go, their kernels are over
  std::uint32_t number_ = 0;
};

}  // namespace sample::krylov
