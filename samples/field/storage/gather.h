// Blocks that read pages from a disk by themselves: a submission queue that all blocks share, and a completion word for
// each block.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/read_memory.h"
#include "wic/site.h"

namespace sample::storage {

inline constexpr std::uint32_t kPageWords = 1024;  // 4 KiB
inline constexpr std::uint32_t kLineWords = 32;

/// Word `i` of a page as the disk holds it.
WIC_DEVICE constexpr std::uint32_t word_of(std::uint32_t page, std::uint32_t i) {
  return scrambled(std::uint64_t{page} * kPageWords + i);
}

/// An entry of the submission queue, on a line of its own in pinned host memory. Entry n is at place n % entries.
struct alignas(128) Command {
  std::uint32_t number;  ///< n + 1 once the command is there
  std::uint32_t page;
  std::uint32_t block;  ///< who asked; kStop: nobody, the disk's thread ends
};
inline constexpr std::uint32_t kStop = 0xffffffffu;

/// The device's end of the queues.
struct Queues {
  wic::Site submitted_site, done_site;
  wic::SiteId idle_site;   ///< where the disk's thread waits for a step's first command
  std::uint32_t per_step;  ///< commands
  Command* commands;
  std::uint32_t entries;          ///< more than there are blocks, so that no entry is written before it was read
  std::uint32_t* tail;            ///< device memory: commands so far
  const std::uint32_t* done;      ///< pinned host memory: reads done, per block
  std::uint32_t done_stride;      ///< words from one block to the next
  const std::uint32_t* arrivals;  ///< pinned host memory: a page per block

  /// One thread calls it.
  WIC_DEVICE void submit(const wic::Thread& thread, std::uint32_t page, std::uint32_t block) const {
    const std::uint32_t number = thread.fetch_add(tail, 1) + 1;
    Command& command = commands[(number - 1) % entries];
    command.page = page;
    command.block = block;
    const wic::SiteId site = (number - 1) % per_step == 0 ? idle_site : submitted_site.id;
    wic::signal(thread, submitted_site.view, site, number, &command.number, number);
  }
};

struct Times {
  std::uint64_t begin_ns, end_ns;
};

/// Each block computes, then reads some pages one after the other, as a training step gathers features.
struct Gather {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  Queues queues;
  std::uint32_t step;   ///< from 1
  std::uint32_t reads;  ///< of a block in a step
  std::uint32_t pages;  ///< on the disk
  const Quad* data;     ///< what the computation reads
  std::uint32_t count, passes;
  Times* times;          ///< device memory: of each read of each block
  std::uint32_t* ended;  ///< device memory: blocks, over all steps
  std::uint32_t* wrong;  ///< device memory: words that differ from the disk's
  std::uint32_t* sink;   ///< keeps the compiler from removing the work
  Failure* failure;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t result = grid_sum_of_quads(thread, data, count, passes);
    if (result == 0x5eed5eedu) thread.store(sink, result);
    for (std::uint32_t r = 0; r < reads; ++r) {
      if (!read_page(thread, r)) break;
    }
    if (thread.index() != 0) return;
    if (thread.fetch_add(ended, 1) + 1 == step * thread.block_count()) queues.submit(thread, 0, kStop);
  }

 private:
  WIC_DEVICE bool read_page(const wic::Thread& thread, std::uint32_t r) const {
    const std::uint32_t block = thread.block(), number = (step - 1) * reads + r + 1;
    const std::uint32_t page = scrambled(std::uint64_t{number} * thread.block_count() + block) % pages;
    const std::uint64_t begin = thread.clock_ns();
    if (thread.index() == 0) queues.submit(thread, page, block);
    if (!queues.done_site.wait(thread, number, &queues.done[std::size_t{block} * queues.done_stride],
                               wic::AtLeast{number})) {
      if (thread.index() == 0) failure->report(thread, step, 0, block, false);
      return false;
    }
    if (thread.index() == 0) times[std::size_t{block} * reads + r] = {begin, thread.clock_ns()};
    const std::uint32_t* const words = queues.arrivals + std::size_t{block} * kPageWords;
    std::uint32_t differ = 0;
    for (std::uint32_t i = thread.index(); i < kPageWords; i += thread.block_size()) {
      differ += words[i] != word_of(page, i) ? 1 : 0;
      thread.step();
    }
    if (differ != 0) thread.fetch_add(wrong, differ);
    thread.sync_block();  // before the next read overwrites the page
    return true;
  }
};

}  // namespace sample::storage
