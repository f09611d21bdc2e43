// A device that receives the stream: its memory, its stream of kernels, and its end of the lane.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_srs/kernels.h"
#include "common/lane.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample::srs {

struct StationShape {
  BatchShape batch;
  std::uint32_t blocks = 0, threads = 0;  ///< of the kernel `Receive`; blocks: 0 = default for the device

  /// Blocks that wait for tiles; the others are independent.
  std::uint32_t receivers() const { return std::min(batch.tiles, (blocks + 1) / 2); }
};

class Station {
 public:
  /// Errors: the device cannot run blocks of that size; too little memory.
  static wic::Result<std::unique_ptr<Station>> make(wic::Device& device, StationShape shape, Lane& lane) {
    std::unique_ptr<Station> station(new Station(lane));
    if (auto r = station->choose_blocks(device, shape); !r) return r.error();
    if (auto r = station->allocate(device); !r) return r.error();
    return wic::Result<std::unique_ptr<Station>>(std::move(station));
  }

  const StationShape& shape() const { return shape_; }
  Lane& lane() const { return lane_; }

  /// Queues the kernel for a batch without waiting; batches count from 1.
  wic::Result<> launch(std::uint32_t batch, std::uint64_t timeout_ns) {
    const Lane::Turn turn = lane_.turn(batch);
    Receive kernel{};
    kernel.rx = turn.receiver();
    kernel.cycle = turn.cycle;
    kernel.batch = batch;
    kernel.timeout_ns = timeout_ns;
    kernel.receivers = shape_.receivers();
    kernel.before = products_of(batch - 1);
    if (batch - 1 == distributed_) kernel.before.smooth = nullptr;
    kernel.raw = raw_.data();
    kernel.smooth = smooth_of(batch);
    kernel.histogram = histograms_.data() + batch % 2 * kBins;
    kernel.stretch = stretches_.data() + batch % 2;
    kernel.finished = &words_.data()->finished;
    kernel.next_histogram = histograms_.data() + (batch + 1) % 2 * kBins;
    kernel.next_digest = digests_.data() + batch % digests_.size();
    kernel.failure = &words_.data()->failure;
    last_ = batch;
    return wic::launch(*stream_, {shape_.blocks, shape_.threads, Receive::kSharedBytes}, kernel);
  }

  /// Waits for all launched kernels, at most until their deadlines, and returns their missed deadlines.
  wic::Result<DeviceFailure> settle() {
    if (auto r = stream_->copy(host_words_.data(), words_.data(), words_.bytes()); !r) return r.error();
    if (auto r = stream_->copy(host_digests_.data(), digests_.data(), digests_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    return host_words_[0].failure;
  }
  /// The digest of a batch that is distributed, settled and among the last kDigests - 1 batches.
  std::uint64_t digest(std::uint32_t batch) const { return host_digests_[batch % host_digests_.size()]; }
  static constexpr std::uint32_t kDigests = 64;

  /// Makes the products of the last batch, unless they exist, and returns them.
  wic::Result<std::vector<Shade>> distribute_last() {
    if (distributed_ != last_) {
      distributed_ = last_;
      const Distribute kernel{products_of(last_)};
      if (auto r = wic::launch(*stream_, {shape_.blocks, shape_.threads, Receive::kSharedBytes}, kernel); !r) {
        return r.error();
      }
    }
    if (auto r = stream_->copy(host_shades_.data(), shades_.data(), shades_.bytes()); !r) return r.error();
    if (auto settled = settle(); !settled) return settled.error();
    return std::vector<Shade>(host_shades_.data(), host_shades_.data() + host_shades_.size());
  }

 private:
  struct Words {
    DeviceFailure failure;
    std::uint32_t finished;
  };

  explicit Station(Lane& lane) : lane_(lane) {}

  Pixel* smooth_of(std::uint32_t batch) const { return smooth_.data() + batch % 2 * shape_.batch.pixels(); }
  Products products_of(std::uint32_t batch) const {
    return {shape_.batch, smooth_of(batch), stretches_.data() + batch % 2, shades_.data(),
            digests_.data() + batch % digests_.size()};
  }

  wic::Result<> choose_blocks(wic::Device& device, StationShape shape) {
    shape_ = shape;
    const auto resident = device.resident_blocks({1, shape.threads, Receive::kSharedBytes}, wic::kernel_ref(Receive{}));
    if (!resident) return resident.error();
    if (*resident == 0) {
      return wic::bad_input(device.properties().name + " cannot run a block of " + std::to_string(shape.threads) +
                            " threads; choose a smaller --block-size");
    }
    if (shape.blocks != 0) return wic::ok();
    const bool gpu = device.properties().kind == wic::DeviceKind::cuda;
    shape_.blocks = gpu ? std::max(*resident, 2u) : 2 * shape.batch.tiles;
    return wic::ok();
  }

  wic::Result<> allocate(wic::Device& device) {
    using wic::Array;
    using wic::Memory;
    const BatchShape& batch = shape_.batch;
    const std::size_t shades = std::size_t{batch.tiles} * batch.product_pixels();
    const auto make = [&]<class T>(Array<T>& to, std::size_t count, Memory where) -> wic::Result<> {
      auto made = Array<T>::make(device, count, where);
      if (!made) return made.error();
      to = *std::move(made);
      return wic::ok();
    };
    if (auto r = make(raw_, batch.pixels(), Memory::device); !r) return r;
    if (auto r = make(smooth_, 2 * batch.pixels(), Memory::device); !r) return r;
    if (auto r = make(shades_, shades, Memory::device); !r) return r;
    if (auto r = make(histograms_, 2 * kBins, Memory::device); !r) return r;
    if (auto r = make(stretches_, 2, Memory::device); !r) return r;
    if (auto r = make(digests_, kDigests, Memory::device); !r) return r;
    if (auto r = make(words_, 1, Memory::device); !r) return r;
    if (auto r = make(host_shades_, shades, Memory::pinned_host); !r) return r;
    if (auto r = make(host_digests_, kDigests, Memory::pinned_host); !r) return r;
    if (auto r = make(host_words_, 1, Memory::pinned_host); !r) return r;
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    return wic::ok();
  }

  Lane& lane_;
  StationShape shape_;
  std::uint32_t last_ = 0;         // last launched batch
  std::uint32_t distributed_ = 0;  // last batch whose products `Distribute` made; 0: none
  wic::Array<Pixel> raw_, smooth_;
  wic::Array<Shade> shades_, host_shades_;
  wic::Array<std::uint32_t> histograms_;
  wic::Array<Stretch> stretches_;
  wic::Array<std::uint64_t> digests_, host_digests_;
  wic::Array<Words> words_, host_words_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace sample::srs
