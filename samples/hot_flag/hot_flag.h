// Blocks that stream memory beside blocks that wait on ONE word in pinned host memory: the worst case known. Each read of
// the word crosses the bus, and reads of one line queue behind each other; the memory traffic of blocks that have nothing
// to do with it queues there too (9.5x slower with 528 pollers, measured on an H200).
#pragma once

#include "wic/signal.h"
#include "wic/wait.h"

namespace sample {

struct alignas(16) Four {
  std::uint32_t v[4];
};

struct StreamTimes {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
};

/// Of B = waiters + streamers blocks, spread evenly over the grid.
struct HotFlagKernel {
  wic::DeviceView view;
  wicprof::SiteId flag_site;
  wicprof::SiteId done_site;
  std::uint32_t iteration;
  std::uint64_t timeout_ns;

  std::uint32_t waiters;
  const std::uint32_t* flag;  ///< pinned host memory: THE word
  std::uint32_t* consumed;    ///< one a waiter, device memory
  std::uint32_t* missed;      ///< device memory

  std::uint32_t streamers;
  Four* data;             ///< device memory
  std::size_t per_block;  ///< of Four
  std::uint32_t passes;
  StreamTimes* times;         ///< one a streamer, device memory
  std::uint32_t* arrivals;    ///< device memory: streamers that have finished, over all iterations
  std::uint32_t* done;        ///< pinned host memory: the last streamer of the iteration writes its number

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t blocks = std::uint64_t{waiters} + streamers;
    const auto before = static_cast<std::uint32_t>(thread.block() * std::uint64_t{waiters} / blocks);
    const auto after = static_cast<std::uint32_t>((thread.block() + 1) * std::uint64_t{waiters} / blocks);
    if (after > before) {
      consume(thread, before);
    } else {
      stream(thread, thread.block() - before);
    }
  }

 private:
  WIC_DEVICE void consume(const wic::Thread& thread, std::uint32_t waiter) const {
    const wic::WaitResult wait = wic::wait_until(thread, view, wic::block_group(thread), flag_site, iteration, flag,
                                                 wic::AtLeast{iteration}, timeout_ns);
    if (thread.index() != 0) return;
    if (wait.status == wicprof::WaitStatus::satisfied) {
      consumed[waiter] += wait.value;
    } else {
      thread.fetch_add(missed, 1);
    }
  }

  WIC_DEVICE void stream(const wic::Thread& thread, std::uint32_t streamer) const {
    const std::uint64_t begin = thread.clock_ns();
    Four* const mine = data + streamer * per_block;
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      for (std::size_t i = thread.index(); i < per_block; i += thread.block_size()) {
        Four four = mine[i];
        for (std::uint32_t& v : four.v) v += 1;
        mine[i] = four;
        thread.step();
      }
    }
    thread.sync_block();
    if (thread.index() != 0) return;
    times[streamer] = {begin, thread.clock_ns()};
    if (thread.fetch_add(arrivals, 1) + 1 == iteration * streamers) {
      wic::signal(thread, view, done_site, iteration, done, iteration);
    }
  }
};

/// Counts elements that were not raised exactly `expected` times.
struct HotFlagCheck {
  const Four* data;
  std::size_t count;
  std::uint32_t expected;
  std::uint32_t* wrong;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    std::uint32_t mine = 0;
    const std::size_t stride = std::size_t{thread.block_count()} * thread.block_size();
    for (std::size_t i = std::size_t{thread.block()} * thread.block_size() + thread.index(); i < count; i += stride) {
      for (const std::uint32_t v : data[i].v) mine += v != expected ? 1 : 0;
    }
    if (mine != 0) thread.fetch_add(wrong, mine);
  }
};

}  // namespace sample
