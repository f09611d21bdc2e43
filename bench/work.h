// The work of a benchmark's computing blocks, by the resource that bounds it. Benchmarks choose the amount by time, so
// that the work takes equally long on every device.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "wic/thread.h"

namespace wicprof::bench {

enum class Bound : std::uint8_t { fp32, streaming, shared_memory, l2_latency };

constexpr std::string_view bound_name(Bound bound) {
  constexpr std::array<std::string_view, 4> kNames{"fp32", "streaming", "shared_memory", "l2_latency"};
  return kNames[static_cast<std::size_t>(bound)];
}

struct alignas(16) Four {
  std::uint32_t v[4];
};

struct Work {
  static constexpr std::uint32_t kWordsPerThread = 4;  ///< shared memory words per thread

  std::uint32_t amount;  ///< rounds per thread
  const Four* data;      ///< streamed data: read only, larger than the caches
  std::uint32_t data_count;
  const std::uint32_t*
      chain;  ///< each 128-byte line holds the number of the next line: one ring that fits the L2 cache
  std::uint32_t chain_lines;
  std::uint32_t* sink;  ///< keeps the compiler from removing the work

  /// Does part `part` of `parts` with `threads` threads of a block; this thread is number `first`.
  template <Bound bound>
  WIC_DEVICE void run(const wic::Thread& thread, std::uint32_t part, std::uint32_t parts, std::uint32_t first,
                      std::uint32_t threads) const {
    std::uint32_t result = 0;
    if constexpr (bound == Bound::fp32) result = multiply(thread, part + first);
    if constexpr (bound == Bound::streaming) result = stream(thread, part, parts, first, threads);
    if constexpr (bound == Bound::shared_memory) result = read_shared(thread, first, threads);
    if constexpr (bound == Bound::l2_latency)
      result = chase(thread, part * (threads / wic::kWarpSize) + first / wic::kWarpSize);
    if (result == 0x5eed5eedu) thread.store(sink, result);
  }

 private:
  WIC_DEVICE std::uint32_t multiply(const wic::Thread& thread, std::uint32_t seed) const {
    float x[4] = {1.0f + static_cast<float>(seed), 2.0f, 3.0f, 4.0f};
    for (std::uint32_t i = 0; i < amount; ++i) {
      for (int k = 0; k < 16; ++k) {
        for (float& each : x) each = each * 0.999f + 0.5f;
      }
      thread.step();
    }
    return static_cast<std::uint32_t>(x[0] + x[1] + x[2] + x[3]);
  }

  // Keeps four loads in flight per thread.
  WIC_DEVICE std::uint32_t stream(const wic::Thread& thread, std::uint32_t part, std::uint32_t parts,
                                  std::uint32_t first, std::uint32_t threads) const {
    const std::uint32_t round = 4 * threads;
    const std::uint32_t slice = data_count / parts / round * round;
    const Four* const mine = data + std::size_t{part} * slice + first;
    std::uint32_t sum = 0;
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < amount; ++i) {
      Four four[4];
      for (std::uint32_t k = 0; k < 4; ++k) four[k] = mine[at + k * threads];
      for (const Four& each : four) sum += each.v[0] ^ each.v[1] ^ each.v[2] ^ each.v[3];
      at = at + round < slice ? at + round : 0;
      thread.step();
    }
    return sum;
  }

  WIC_DEVICE std::uint32_t read_shared(const wic::Thread& thread, std::uint32_t first, std::uint32_t threads) const {
    volatile std::uint32_t* const words = static_cast<std::uint32_t*>(thread.shared()) + first;
    for (std::uint32_t k = 0; k < kWordsPerThread; ++k) words[k * threads] = first + k;  // private to this thread
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < amount; ++i) {
      for (std::uint32_t k = 0; k < 16; ++k) sum += words[k % kWordsPerThread * threads];
      thread.step();
    }
    return sum;
  }

  // All lanes of a warp follow the ring together; the loads bypass the L1 cache.
  WIC_DEVICE std::uint32_t chase(const wic::Thread& thread, std::uint32_t walker) const {
    std::uint32_t at = static_cast<std::uint32_t>(std::uint64_t{walker} * 2654435761u % chain_lines);
    for (std::uint32_t i = 0; i < amount; ++i) at = thread.load(chain + std::size_t{at} * 32);
    return at;
  }
};

}  // namespace wicprof::bench
