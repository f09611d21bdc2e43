// The memory for Work.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "bench/memory.h"
#include "bench/work.h"

namespace wicprof::bench {

class WorkMemory {
 public:
  /// `device` computes; `from` owns the streamed memory. On a GPU 1 GiB (256 MiB if `from` is another GPU) and a ring
  /// of 8 MiB; on the CPU device 1 MiB each.
  Result<> allocate(wic::Device& device, wic::Device& from, wic::Stream& stream, Bound bound) {
    const bool gpu = device.properties().kind == DeviceKind::cuda;
    const std::size_t bytes = !gpu               ? std::size_t{1} << 20
                              : &from == &device ? std::size_t{1} << 30
                                                 : std::size_t{256} << 20;
    if (auto r = bench::allocate(sink_, device, 1, wic::Memory::device); !r) return r;
    if (bound == Bound::streaming) return bench::allocate(data_, from, bytes / sizeof(Four), wic::Memory::device);
    if (bound == Bound::l2_latency)
      return make_ring(device, stream, (gpu ? std::size_t{8} << 20 : std::size_t{1} << 20) / 128);
    return ok();
  }

  Work work(std::uint32_t amount) const {
    return {amount,
            data_.data(),
            static_cast<std::uint32_t>(data_.size()),
            ring_.device(),
            static_cast<std::uint32_t>(ring_.size() / kLine),
            sink_.data()};
  }

 private:
  // One ring through all lines, in random order.
  Result<> make_ring(wic::Device& device, wic::Stream& stream, std::size_t lines) {
    if (auto r = ring_.allocate(device, lines * kLine); !r) return r;
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(12345));
    for (std::size_t i = 0; i < lines; ++i) ring_[order[i] * kLine] = order[(i + 1) % lines];
    if (auto r = ring_.send(stream); !r) return r;
    return stream.synchronize();
  }

  wic::Array<Four> data_;
  Mirrored<std::uint32_t> ring_;
  wic::Array<std::uint32_t> sink_;
};

}  // namespace wicprof::bench
