// The host code of hot_flag, one iteration at a time. The sample and bench/hot_flag both use it.
#pragma once

#include <algorithm>
#include <memory>

#include "hot_flag/hot_flag.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample {

struct HotFlagShape {
  std::uint32_t threads = 0;     ///< per block; 0 = 256 on a GPU, 64 on the CPU device
  std::uint32_t waiters = 0;     ///< blocks
  std::uint32_t streamers = 0;   ///< blocks
  std::size_t bytes = 0;         ///< streamed in place, over all streamers
  std::uint32_t passes = 1;      ///< over these bytes, per iteration
  std::uint32_t arithmetic = 0;  ///< multiplications per word and pass
};

struct HotFlagTimes {
  double iteration_ns;
  double stream_ns;  ///< from the first streamer's begin to the last streamer's end, on the device clock
};

class HotFlag {
 public:
  /// Errors: the device cannot hold all blocks at once, which would deadlock; too little memory.
  static wic::Result<HotFlag> make(wic::Runtime& runtime, const HotFlagShape& shape, std::uint64_t timeout_ns) {
    HotFlag program;
    program.runtime_ = &runtime;
    program.shape_ = shape;
    program.timeout_ns_ = timeout_ns;
    wic::Device& device = runtime.device(0);
    const std::uint32_t blocks = shape.waiters + shape.streamers;
    const auto resident = device.resident_blocks(program.launch_shape(), wic::kernel_ref(HotFlagKernel{}));
    if (!resident) return resident.error();
    if (blocks > *resident) {
      return wic::bad_input(std::to_string(blocks) + " blocks that wait for each other do not fit: the device holds " +
                            std::to_string(*resident) + " at once; ask for fewer with --waiters and --streamers");
    }
    if (wic::Result<> prepared = program.allocate(device); !prepared) return prepared.error();
    return wic::Result<HotFlag>(std::move(program));
  }

  /// Adds the program's wait sites. Call once per runtime, because site names are unique.
  static wic::Result<std::pair<wic::SiteId, wic::SiteId>> add_sites(wic::Runtime& runtime) {
    const auto add = [&](const char* name) {
      return runtime.add_site({.name = name, .word_memory = wic::WordMemory::pinned_host, .shared_word = true});
    };
    const auto flag = add("hot.flag");
    if (!flag) return flag.error();
    const auto done = add("hot.streamed");
    if (!done) return done.error();
    return std::pair{*flag, *done};
  }
  void use_sites(std::pair<wic::SiteId, wic::SiteId> sites) { sites_ = sites; }

  /// Launches the kernel, waits for the end of streaming, releases the waiters and waits for the end of the kernel.
  wic::Result<HotFlagTimes> iterate(HotFlagWaiters role = HotFlagWaiters::wait) {
    const wic::TimeNs begin = wic::now_ns();
    ++iteration_;
    HotFlagKernel kernel{};
    kernel.flag_site = runtime_->site(sites_.first, timeout_ns_);
    kernel.done_site = runtime_->site(sites_.second, timeout_ns_);
    kernel.iteration = iteration_;
    kernel.sm_count = runtime_->device(0).properties().sm_count;
    kernel.waiters = shape_.waiters;
    kernel.role = role;
    if (role != HotFlagWaiters::absent) consumed_ += iteration_;
    kernel.flag = &words_[0];
    kernel.consumed = counters_.data() + kCounters;
    kernel.missed = counters_.data() + kMissed;
    kernel.streamers = shape_.streamers;
    kernel.data = data_.data();
    kernel.per_block = per_block_;
    kernel.passes = shape_.passes;
    kernel.arithmetic = shape_.arithmetic;
    kernel.factor = 1;
    kernel.times = times_.data();
    kernel.arrivals = counters_.data() + kArrivals;
    kernel.done = &words_[kLine];
    if (auto r = wic::launch(*stream_, launch_shape(), kernel); !r) return r.error();
    const wic::WaitResult streamed = runtime_->wait_until(
        sites_.second, iteration_, &words_[kLine], wic::AtLeast{iteration_}, static_cast<wic::TimeNs>(timeout_ns_));
    host_missed_ += streamed ? 0 : 1;
    runtime_->signal(sites_.first, iteration_, &words_[0], iteration_);
    if (auto r = stream_->copy(host_times_.data(), times_.data(), times_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    std::uint64_t first = host_times_[0].begin_ns;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < host_times_.size(); ++i) {
      first = std::min(first, host_times_[i].begin_ns);
      last = std::max(last, host_times_[i].end_ns);
    }
    return HotFlagTimes{static_cast<double>(wic::now_ns() - begin), static_cast<double>(last - first)};
  }

  struct Check {
    std::uint32_t missed_deadlines;
    std::uint32_t wrong_elements;
    std::uint32_t wrong_waiters;
    bool ok() const { return missed_deadlines + wrong_elements + wrong_waiters == 0; }
  };
  /// Checks that every element was incremented once per pass and every waiter received every iteration's value.
  wic::Result<Check> check() {
    const HotFlagCheck kernel{data_.data(), per_block_ * shape_.streamers, iteration_ * shape_.passes,
                              counters_.data() + kWrong};
    if (auto r = wic::launch(*stream_, {256, shape_.threads}, kernel); !r) return r.error();
    if (auto r = stream_->copy(host_counters_.data(), counters_.data(), counters_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    Check result{host_counters_[kMissed] + host_missed_, host_counters_[kWrong], 0};
    for (std::uint32_t w = 0; w < shape_.waiters; ++w) {
      result.wrong_waiters += host_counters_[kCounters + w] != consumed_ ? 1 : 0;
    }
    return result;
  }

  std::uint32_t iterations() const { return iteration_; }
  double bytes_per_iteration() const {  // reads and writes
    return 2.0 * static_cast<double>(data_.bytes()) * shape_.passes;
  }

 private:
  static constexpr std::size_t kLine = 32;  // words of a 128-byte line
  enum Counter : std::size_t { kMissed = 0, kArrivals = kLine, kWrong = 2 * kLine, kCounters = 3 * kLine };

  wic::LaunchShape launch_shape() const { return {shape_.waiters + shape_.streamers, shape_.threads}; }

  wic::Result<> allocate(wic::Device& device) {
    per_block_ = std::max<std::size_t>(1, shape_.bytes / sizeof(Four) / shape_.streamers);
    auto data = wic::Array<Four>::make(device, per_block_ * shape_.streamers, wic::Memory::device);
    if (!data) return data.error();
    auto times = wic::Array<StreamTimes>::make(device, shape_.streamers, wic::Memory::device);
    if (!times) return times.error();
    auto host_times = wic::Array<StreamTimes>::make(device, shape_.streamers, wic::Memory::pinned_host);
    if (!host_times) return host_times.error();
    auto counters = wic::Array<std::uint32_t>::make(device, kCounters + shape_.waiters, wic::Memory::device);
    if (!counters) return counters.error();
    auto host_counters = wic::Array<std::uint32_t>::make(device, kCounters + shape_.waiters, wic::Memory::pinned_host);
    if (!host_counters) return host_counters.error();
    auto words = wic::Array<std::uint32_t>::make(device, 2 * kLine, wic::Memory::pinned_host);
    if (!words) return words.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    data_ = *std::move(data);
    times_ = *std::move(times);
    host_times_ = *std::move(host_times);
    counters_ = *std::move(counters);
    host_counters_ = *std::move(host_counters);
    words_ = *std::move(words);
    stream_ = *std::move(stream);
    return wic::ok();
  }

  wic::Runtime* runtime_ = nullptr;
  HotFlagShape shape_;
  std::uint64_t timeout_ns_ = 0;
  std::pair<wic::SiteId, wic::SiteId> sites_{};
  std::size_t per_block_ = 0;
  std::uint32_t iteration_ = 0;
  std::uint32_t consumed_ = 0;  // expected sum of the values that each waiter received; wraps
  std::uint32_t host_missed_ = 0;
  wic::Array<Four> data_;
  wic::Array<StreamTimes> times_, host_times_;
  wic::Array<std::uint32_t> counters_, host_counters_, words_;
  std::unique_ptr<wic::Stream> stream_;
};

/// A shape that fills the device: on a GPU as many blocks of 256 threads as it holds at once (8 per SM on an H100, 6 on
/// an RTX 4090; fewer where the driver compiled the code), half of them waiting, over 1 GiB; on the CPU device 26
/// blocks per SM over 1 MiB, which fits the caches.
inline HotFlagShape default_hot_flag_shape(wic::Device& device) {
  const std::uint32_t sms = device.properties().sm_count;
  if (device.properties().kind == wic::DeviceKind::cuda) {
    std::uint32_t half = std::max(device.properties().max_threads_per_sm / (2 * 256), 1u) * sms;
    const auto resident = device.resident_blocks({2 * half, 256}, wic::kernel_ref(HotFlagKernel{}));
    if (resident) half = std::clamp(*resident / 2, 1u, half);
    return {256, half, half, std::size_t{1} << 30, 1};
  }
  return {64, 24 * sms, 2 * sms, std::size_t{1} << 20, 1};
}

}  // namespace sample
