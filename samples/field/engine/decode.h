// One step of a serving engine: reads all weights and makes the next token of each sequence of the batch.
#pragma once

#include "common/mix.h"
#include "field/read_memory.h"
#include "wic/site.h"

namespace sample::engine {

inline constexpr std::uint32_t kMaxSlots = 256;
inline constexpr std::uint32_t kVocabulary = 32'000;

/// A place in the batch. In pinned host memory: the scheduler writes it before the launch.
struct Slot {
  std::uint32_t active;
  std::uint32_t key;       ///< what the prompt's tokens come to
  std::uint32_t position;  ///< tokens made so far
  std::uint32_t token;     ///< the kernel's answer
};

/// `total`: the sum of the weights, as often as a step reads them.
WIC_DEVICE constexpr std::uint32_t next_token(std::uint32_t key, std::uint32_t position, std::uint32_t total) {
  return static_cast<std::uint32_t>(mix((std::uint64_t{key} << 32 | position) ^ total) % kVocabulary);
}

struct Decode {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  wic::Site site;
  std::uint32_t step;  ///< of this engine, from 1
  const Quad* weights;
  std::uint32_t count;   ///< of `weights`
  std::uint32_t passes;  ///< over the weights
  Slot* slots;
  std::uint32_t slot_count;
  std::uint32_t* totals;   ///< device memory: the sum of each step, in turn for even and odd steps
  std::uint32_t* arrived;  ///< device memory: blocks, over all steps
  std::uint32_t* done;     ///< pinned host memory

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    if (thread.index() == 0) shared[0] = 0;
    thread.sync_block();
    thread.fetch_add(&shared[0], grid_sum_of_quads(thread, weights, count, passes));
    thread.sync_block();
    if (thread.index() == 0) {
      thread.fetch_add(&totals[step & 1], shared[0]);
      shared[1] = thread.fetch_add_acq_rel(arrived, 1) + 1 == step * thread.block_count() ? 1 : 0;
    }
    thread.sync_block();
    if (shared[1] != 0) make_tokens(thread);
  }

 private:
  // The last block: all others have added their sums.
  WIC_DEVICE void make_tokens(const wic::Thread& thread) const {
    const std::uint32_t total = thread.load(&totals[step & 1]);
    if (thread.index() == 0) thread.store(&totals[(step + 1) & 1], 0);
    for (std::uint32_t s = thread.index(); s < slot_count; s += thread.block_size()) {
      if (slots[s].active != 0) slots[s].token = next_token(slots[s].key, slots[s].position, total);
    }
    thread.sync_block();
    if (thread.index() == 0) {
      site.signal(thread, step, done, step, wic::Payload::contiguous(0, slot_count * sizeof(Slot)));
    }
  }
};

}  // namespace sample::engine
