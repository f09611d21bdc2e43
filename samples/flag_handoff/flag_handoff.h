// The smallest program that waits: the CPU produces numbers, and a kernel that is already running waits for them.
#pragma once

#include "wic/site.h"

namespace sample {

/// The flag of one block, alone on its cache line.
struct alignas(128) Flag {
  std::uint32_t word;
};

/// Each block waits for its share of the data and adds it up.
struct HandoffConsumer {
  wic::Site site;
  std::uint32_t iteration;
  const Flag* flags;          ///< pinned host memory, one per block
  const std::uint32_t* data;  ///< pinned host memory, `count` numbers per block
  std::uint32_t count;
  std::uint32_t* sums;    ///< device memory, one per block, zeroed before the launch
  std::uint32_t* missed;  ///< device memory, number of missed deadlines

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t block = thread.block();
    if (!site.wait(thread, iteration, &flags[block].word, wic::AtLeast{iteration})) {
      if (thread.index() == 0) thread.fetch_add(missed, 1);
      return;
    }
    std::uint32_t sum = 0;
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      sum += data[std::size_t{block} * count + i];
      thread.step();
    }
    thread.fetch_add(&sums[block], sum);
  }
};

}  // namespace sample
