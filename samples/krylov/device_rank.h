// A device's rank: its memory, its stream, and the launches of its kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "krylov/cluster_options.h"
#include "krylov/kernels.h"
#include "wic/launch.h"

namespace sample::krylov {

/// The two lanes between two ranks, from the view of one of them.
struct Lanes {
  Lane* out = nullptr;
  Lane* in = nullptr;
};

class DeviceRank {
 public:
  /// `own`: this rank's number. `lanes`: one pair per other rank, in rank order. `sharing`: number of ranks on this
  /// physical device. The plan must outlive this. Errors: an invalid shape; waiting blocks that do not fit the device;
  /// too little memory.
  static wic::Result<std::unique_ptr<DeviceRank>> make(wic::Device& device, const RankPlan& plan,
                                                       const std::vector<double>& b, std::uint32_t own,
                                                       const std::vector<Lanes>& lanes, const ShapeWish& wish,
                                                       std::uint32_t sharing) {
    std::unique_ptr<DeviceRank> rank(new DeviceRank(device, plan, own, lanes));
    if (auto made = rank->allocate(b); !made) return made.error();
    if (auto shaped = rank->choose_shapes(wish, sharing); !shaped) return shaped.error();
    return wic::Result<std::unique_ptr<DeviceRank>>(std::move(rank));
  }

  wic::Result<> reset() {
    return wic::launch(*stream_, {finish_shape_.blocks, finish_shape_.threads}, Reset{view_.x, view_.rows});
  }

  /// Queues an iteration without waiting. `number` counts from 1 over all solves.
  wic::Result<> launch(Kind kind, bool first, std::uint32_t number, std::uint64_t timeout_ns) {
    const Iteration it{
        view_, failure_.data(), dots_.data(), states_.data(), own_, static_cast<std::uint32_t>(lanes_.size()) + 1,
        kind,  first,           number};
    if (view_.sharing == Sharing::sum && plan_.boundary() > 0) {
      if (auto r = wic::launch(*stream_, boundary_shape_, MultiplyBoundary{it}); !r) return r;
    }
    exchange_.it = it;
    exchange_.timeout_ns = timeout_ns;
    for (std::size_t p = 0; p < lanes_.size(); ++p) {
      Peer& peer = exchange_.peers[p];
      const Lane::Turn out = lanes_[p].out->turn(number);
      const Lane::Turn in = lanes_[p].in->turn(number);
      peer.sender = out.sender();
      peer.send_cycle = out.cycle.number;
      peer.receiver = in.receiver();
      peer.receive_cycle = in.cycle.number;
    }
    if (auto r = wic::launch(*stream_, exchange_shape_, exchange_); !r) return r;
    if (auto r = wic::launch(*stream_, finish_shape_, Finish{it}); !r) return r;
    view_.advance(kind);
    return wic::ok();
  }

  /// Waits for all launched work and returns all failures so far.
  wic::Result<DeviceFailure> settle() {
    if (auto r = stream_->copy(host_failure_.data(), failure_.data(), failure_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    return host_failure_[0];
  }

  /// x of the rows, in local order. No kernel may be running.
  wic::Result<std::vector<double>> read_x() {
    std::vector<double> x(view_.rows);
    for (std::size_t done = 0; done < x.size(); done += staging_.size()) {
      const std::size_t count = std::min(staging_.size(), x.size() - done);
      if (auto r = stream_->copy(staging_.data(), view_.x + done, count * sizeof(double)); !r) return r.error();
      if (auto r = stream_->synchronize(); !r) return r.error();
      std::memcpy(&x[done], staging_.data(), count * sizeof(double));
    }
    return x;
  }

 private:
  DeviceRank(wic::Device& device, const RankPlan& plan, std::uint32_t own, const std::vector<Lanes>& lanes)
      : device_(device), plan_(plan), own_(own), lanes_(lanes) {}

  template <class T>
  wic::Result<> make_array(wic::Array<T>& array, std::size_t count, wic::Memory where = wic::Memory::device) {
    auto made = wic::Array<T>::make(device_, std::max<std::size_t>(count, 1), where);
    if (!made) return made.error();
    array = *std::move(made);
    return wic::ok();
  }

  template <class T>
  wic::Result<> upload(wic::Array<T>& array, const std::vector<T>& values) {
    if (auto r = make_array(array, values.size()); !r) return r;
    const std::size_t chunk = staging_.bytes() / sizeof(T);
    for (std::size_t done = 0; done < values.size(); done += chunk) {
      const std::size_t count = std::min(chunk, values.size() - done);
      std::memcpy(staging_.data(), &values[done], count * sizeof(T));
      if (auto r = stream_->copy(array.data() + done, staging_.data(), count * sizeof(T)); !r) return r;
      if (auto r = stream_->synchronize(); !r) return r;
    }
    return wic::ok();
  }

  // Runs actions until the first error.
  template <class... Actions>
  static wic::Result<> in_turn(const Actions&... actions) {
    wic::Result<> result = wic::ok();
    static_cast<void>((... && static_cast<bool>(result = actions())));
    return result;
  }

  wic::Result<> allocate(const std::vector<double>& b) {
    auto stream = device_.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    std::vector<double> own_b(plan_.rows());
    for (std::uint32_t i = 0; i < plan_.rows(); ++i) own_b[i] = b[plan_.global[i]];
    std::vector<std::uint32_t> from;
    std::size_t message_doubles = 0;
    for (const Outgoing& out : plan_.outgoing) {
      from.insert(from.end(), out.from.begin(), out.from.end());
      message_doubles += padded(kHead + out.from.size());
    }
    constexpr std::size_t kStagingDoubles = 1u << 20;
    const auto done = in_turn(
        [&] {
          return make_array(staging_, std::min(kStagingDoubles, plan_.matrix.values.size() + 64),
                            wic::Memory::pinned_host);
        },
        [&] { return upload(slice_begin_, plan_.matrix.slice_begin); },
        [&] { return upload(columns_, plan_.matrix.columns); }, [&] { return upload(values_, plan_.matrix.values); },
        [&] { return upload(combine_begin_, plan_.combine.begin); },
        [&] { return upload(combine_from_, plan_.combine.from); }, [&] { return upload(b_, own_b); },
        [&] { return upload(from_, from); }, [&] { return make_array(vectors_, kVectors * padded(plan_.rows())); },
        [&] { return make_array(products_, plan_.boundary()); }, [&] { return make_array(ghosts_, plan_.ghosts); },
        [&] { return make_array(messages_, message_doubles); },
        [&] { return make_array(chunks_, chunks_of(plan_.rows())); }, [&] { return make_array(dots_, kMaxRanks); },
        [&] { return make_array(states_, 2); }, [&] { return make_array(failure_, 1); },
        [&] { return make_array(host_failure_, 1, wic::Memory::pinned_host); });
    if (!done) return done;
    set_pointers();
    return wic::ok();
  }

  static std::size_t padded(std::size_t doubles) { return (doubles + 15) / 16 * 16; }

  // Sets the pointers that kernels get.
  void set_pointers() {
    const std::size_t stride = padded(plan_.rows());
    const auto vector = [&](std::size_t i) { return vectors_.data() + i * stride; };
    view_ = {plan_.sharing,
             plan_.rows(),
             plan_.interior,
             plan_.dot_rows,
             {slice_begin_.data(), columns_.data(), values_.data(), plan_.rows()},
             combine_begin_.data(),
             combine_from_.data(),
             b_.data(),
             vector(0),
             vector(1),
             vector(2),
             vector(3),
             vector(4),
             vector(5),
             vector(6),
             vector(7),
             products_.data(),
             ghosts_.data(),
             chunks_.data()};
    std::size_t list = 0, message = 0;
    exchange_.peer_count = static_cast<std::uint32_t>(plan_.outgoing.size());
    for (std::size_t p = 0; p < plan_.outgoing.size(); ++p) {
      const Outgoing& out = plan_.outgoing[p];
      const Incoming& in = plan_.incoming[p];
      Peer& peer = exchange_.peers[p];
      peer.payload = wic::payload_of(out.global, sizeof(double));
      peer.from = from_.data() + list;
      peer.message = messages_.data() + message;
      peer.rank = out.peer;
      peer.values_out = static_cast<std::uint32_t>(out.from.size());
      peer.values_in = static_cast<std::uint32_t>(in.global.size());
      peer.ghost_begin = in.ghost_begin;
      list += out.from.size();
      message += padded(kHead + out.from.size());
    }
  }

  wic::Result<> choose_shapes(const ShapeWish& wish, std::uint32_t sharing) {
    const bool gpu = device_.properties().kind == wic::DeviceKind::cuda;
    const std::uint32_t threads = wish.threads != 0 ? wish.threads : gpu ? 256 : 64;
    if (threads > kMaxBlockThreads) {
      return wic::bad_input("blocks of " + std::to_string(threads) + " threads; at most " +
                            std::to_string(kMaxBlockThreads) + " (--block-size)");
    }
    const std::uint32_t peers = exchange_.peer_count;
    exchange_shape_ = {1, threads, sizeof(FoldScratch)};
    const auto resident = device_.resident_blocks(exchange_shape_, wic::kernel_ref(exchange_));
    if (!resident) return resident.error();
    // Asking for resident blocks also loads a kernel. No kernel may be loaded later, while another kernel waits for a
    // message that this thread has yet to send.
    const auto load = [&](const auto& kernel) -> wic::Result<> {
      const auto loaded = device_.resident_blocks(exchange_shape_, wic::kernel_ref(kernel));
      return loaded ? wic::ok() : wic::Result<>(loaded.error());
    };
    if (auto r = in_turn([&] { return load(MultiplyBoundary{}); }, [&] { return load(Finish{}); },
                         [&] { return load(Reset{}); });
        !r) {
      return r;
    }
    // The waiting blocks of one rank must not displace the sending blocks of another rank on the device.
    const std::uint32_t waiting = sharing * peers;
    if (*resident < waiting + 1) {
      return wic::bad_input(device_.properties().name + " holds " + std::to_string(*resident) + " blocks of " +
                            std::to_string(threads) + " threads at once, but " + std::to_string(waiting) +
                            " waiting blocks and one computing block are needed; put fewer ranks on it" +
                            (gpu ? "" : ", or give it more SMs with WIC_SIMT_SMS"));
    }
    const std::uint32_t max_blocks = gpu ? *resident - waiting : device_.properties().sm_count;
    const auto enough = [&](std::uint32_t work, std::uint32_t per_block) {
      return std::clamp((work + per_block - 1) / per_block, 1u, std::max(max_blocks, 1u));
    };
    exchange_shape_.blocks = wish.blocks != 0 ? wish.blocks : peers + enough(view_.interior, threads);
    finish_shape_ = {wish.blocks != 0 ? wish.blocks : enough(chunks_of(view_.rows), 1), threads, sizeof(FoldScratch)};
    finish_shape_.blocks = std::min(finish_shape_.blocks, chunks_of(view_.rows));
    boundary_shape_ = {enough(plan_.boundary(), threads), threads};
    const std::uint32_t senders =
        exchange_shape_.blocks > peers ? exchange_shape_.blocks - peers : exchange_shape_.blocks;
    exchange_.messages = 0;
    for (std::uint32_t p = 0; p < peers; ++p) {
      exchange_.peers[p].parts = parts_of(exchange_.peers[p].values_out, senders);
      exchange_.messages += exchange_.peers[p].parts;
    }
    return wic::ok();
  }

  static constexpr std::size_t kVectors = 8;

  wic::Device& device_;
  const RankPlan& plan_;
  const std::uint32_t own_;
  const std::vector<Lanes> lanes_;
  RankView view_{};
  Exchange exchange_{};
  wic::LaunchShape exchange_shape_, finish_shape_, boundary_shape_;
  wic::Array<std::uint32_t> slice_begin_, columns_, combine_begin_, combine_from_, from_;
  wic::Array<double> values_, b_, vectors_, products_, ghosts_, messages_, staging_;
  wic::Array<Dots> chunks_, dots_;
  wic::Array<CgState> states_;
  wic::Array<DeviceFailure> failure_, host_failure_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace sample::krylov
