// A worker's round: reads its training data, and makes the gradient of the parameters, shard by shard.
#pragma once

#include "common/mix.h"
#include "field/read_memory.h"
#include "wic/site.h"

namespace sample::parameter_server {

inline constexpr std::uint32_t kMaxShards = 32;
inline constexpr std::uint32_t kLineWords = 32;

/// The gradient of one parameter. Integers, so that a sum does not depend on the order.
WIC_DEVICE constexpr std::uint32_t gradient_of(std::uint32_t parameter, std::uint32_t worker) {
  return scrambled(parameter ^ (worker + 1) * 0x85ebca6bu) >> 8;
}

struct Gradient {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  wic::Site site;
  std::uint32_t worker;
  std::uint32_t round;  ///< from 1
  std::uint32_t shards, per_shard;
  const std::uint32_t* parameters;  ///< device memory
  std::uint32_t* gradients;         ///< pinned host memory
  const Quad* samples;              ///< the worker's data, in device memory
  std::uint32_t sample_count, passes;
  std::uint32_t* arrived;  ///< device memory, a line per shard: blocks, over all rounds
  std::uint32_t* ready;    ///< pinned host memory, a line per shard: the last round whose gradient is there
  std::uint32_t* sink;     ///< keeps the compiler from removing the work

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t sum = grid_sum_of_quads(thread, samples, sample_count, passes);
    if (sum == 0x5eed5eedu) thread.store(sink, sum);
    // Each block has a part of each shard: all shards are ready one after the other, as layers are.
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      const std::size_t base = std::size_t{shard} * per_shard;
      for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < per_shard;
           i += thread.block_count() * thread.block_size()) {
        gradients[base + i] = gradient_of(parameters[base + i], worker);
        thread.step();
      }
      thread.sync_block();
      if (thread.index() != 0) continue;
      std::uint32_t* const blocks = arrived + std::size_t{shard} * kLineWords;
      if (thread.fetch_add_acq_rel_system(blocks, 1) + 1 != round * thread.block_count()) continue;
      const auto bytes = static_cast<std::uint32_t>(per_shard * sizeof(std::uint32_t));
      site.signal(thread, round, ready + std::size_t{shard} * kLineWords, round,
                  wic::Payload::contiguous(base * sizeof(std::uint32_t), bytes));
    }
  }
};

}  // namespace sample::parameter_server
