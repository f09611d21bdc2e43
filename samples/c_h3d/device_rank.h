// A device's rank: its memory, its stream, and the launches of its two kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_h3d/kernels.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample::h3d {

/// The grid of a rank's kernels; 0 = default by kind of device.
struct RankGrid {
  std::uint32_t blocks = 0, threads = 0;
};

class DeviceRank {
 public:
  /// `sharing`: number of ranks on this physical device. Errors: the device cannot hold all waiting blocks and one
  /// computing block at once, which would deadlock; a block that is too large; too little memory.
  static wic::Result<DeviceRank> make(wic::Device& device, const wic::DeviceView& view, const Neighbours& neighbours,
                                      Brick brick, std::uint32_t sharing, RankGrid grid = {}) {
    DeviceRank rank;
    rank.exchange_ = {view, neighbours, brick, nullptr, nullptr, nullptr, 0, 0};
    rank.naive_neighbours_ = neighbours;
    rank.boundary_ = {brick, nullptr, nullptr};
    if (wic::Result<> shaped = rank.choose_shape(device, sharing, grid); !shaped) return shaped.error();
    if (wic::Result<> made = rank.allocate(device, brick); !made) return made.error();
    return wic::Result<DeviceRank>(std::move(rank));
  }

  /// Sets the view for later launches; call when the sites' strategies may have changed.
  void use(const wic::DeviceView& view) { exchange_.view = view; }
  /// Sets the neighbours for iterations with the naive way of waiting.
  void use_naively(const Neighbours& neighbours) { naive_neighbours_ = neighbours; }

  /// Queues one iteration without waiting. `naive_step`: see AnyExchange.
  wic::Result<> launch(std::uint32_t iteration, std::uint64_t timeout_ns, std::uint32_t naive_step = 0) {
    exchange_.current = current_.data();
    exchange_.next = next_.data();
    exchange_.failure = failure_.data();
    exchange_.iteration = iteration;
    exchange_.timeout_ns = timeout_ns;
    boundary_.current = current_.data();
    boundary_.next = next_.data();
    if (auto r = launch_exchange(naive_step); !r) return r;
    if (auto r = wic::launch(*stream_, boundary_shape_, boundary_); !r) return r.error();
    std::swap(current_, next_);
    return wic::ok();
  }

  wic::Result<> synchronize() { return stream_->synchronize(); }

  /// Write or read the whole field, ghosts included. No kernel may be running.
  wic::Result<> write(const std::vector<Cell>& field) {
    std::memcpy(host_field_.data(), field.data(), host_field_.bytes());
    if (auto r = stream_->copy(current_.data(), host_field_.data(), current_.bytes()); !r) return r;
    return stream_->synchronize();
  }
  wic::Result<const Cell*> read() {
    if (auto r = stream_->copy(host_field_.data(), current_.data(), current_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    return static_cast<const Cell*>(host_field_.data());
  }
  wic::Result<DeviceFailure> failure() {
    if (auto r = stream_->copy(host_failure_.data(), failure_.data(), failure_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    return host_failure_[0];
  }

 private:
  wic::Result<> launch_exchange(std::uint32_t naive_step) {
    if (naive_step == 0 && exchange_shape_.blocks > kMessages) {
      return wic::launch(*stream_, exchange_shape_, exchange_);
    }
    AnyExchange any{exchange_, naive_step};
    if (naive_step != 0) any.whole.neighbours = naive_neighbours_;
    return wic::launch(*stream_, exchange_shape_, any);
  }

  wic::Result<> choose_shape(wic::Device& device, std::uint32_t sharing, RankGrid grid) {
    const bool gpu = device.properties().kind == wic::DeviceKind::cuda;
    const std::uint32_t threads = grid.threads != 0 ? grid.threads : gpu ? 512 : 64;
    if (threads > Exchange::kMaxThreads || threads % wic::kWarpSize != 0) {
      return wic::bad_input("blocks of " + std::to_string(threads) + " threads; choose a multiple of 32, at most " +
                            std::to_string(Exchange::kMaxThreads));
    }
    const auto fast = device.resident_blocks({1, threads}, wic::kernel_ref(exchange_));
    if (!fast) return fast.error();
    const auto any = device.resident_blocks({1, threads}, wic::kernel_ref(AnyExchange{exchange_, 0}));
    if (!any) return any.error();
    const std::uint32_t resident = std::min(*fast, *any);
    const bool few = grid.blocks != 0 && grid.blocks <= kMessages;  // then every block computes and then waits
    const std::uint32_t waiting = sharing * (few ? grid.blocks : kMessages);
    if (resident < waiting + (few ? 0 : 1)) {
      return wic::bad_input(device.properties().name + " holds " + std::to_string(resident) + " blocks of " +
                            std::to_string(threads) + " threads at once, but " + std::to_string(waiting) +
                            " waiting blocks and one computing block are needed; put fewer ranks on it" +
                            (gpu ? "" : ", or give it more SMs with WIC_SIMT_SMS"));
    }
    // On the CPU device more blocks than SMs give no speed-up.
    const std::uint32_t computing = std::max(resident - waiting, 1u);
    const std::uint32_t max_blocks = gpu ? computing : device.properties().sm_count;
    const auto enough = [&](std::uint32_t work) {
      return std::clamp((work + threads - 1) / threads, 1u, std::min(max_blocks, computing));
    };
    const std::uint32_t n = exchange_.brick.n;
    exchange_shape_ = {kMessages + enough(std::max(exchange_.lines(), n * n)), threads};
    boundary_shape_ = {enough(n * n), threads};
    if (grid.blocks != 0) exchange_shape_.blocks = boundary_shape_.blocks = grid.blocks;
    return wic::ok();
  }

  wic::Result<> allocate(wic::Device& device, Brick brick) {
    auto current = wic::Array<Cell>::make(device, brick.stored_cells(), wic::Memory::device);
    if (!current) return current.error();
    auto next = wic::Array<Cell>::make(device, brick.stored_cells(), wic::Memory::device);
    if (!next) return next.error();
    auto host_field = wic::Array<Cell>::make(device, brick.stored_cells(), wic::Memory::pinned_host);
    if (!host_field) return host_field.error();
    auto failure = wic::Array<DeviceFailure>::make(device, 1, wic::Memory::device);
    if (!failure) return failure.error();
    auto host_failure = wic::Array<DeviceFailure>::make(device, 1, wic::Memory::pinned_host);
    if (!host_failure) return host_failure.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    current_ = *std::move(current);
    next_ = *std::move(next);
    host_field_ = *std::move(host_field);
    failure_ = *std::move(failure);
    host_failure_ = *std::move(host_failure);
    stream_ = *std::move(stream);
    return wic::ok();
  }

  Exchange exchange_{};
  Neighbours naive_neighbours_{};
  Boundary boundary_{};
  wic::LaunchShape exchange_shape_, boundary_shape_;
  wic::Array<Cell> current_, next_, host_field_;
  wic::Array<DeviceFailure> failure_, host_failure_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace sample::h3d
