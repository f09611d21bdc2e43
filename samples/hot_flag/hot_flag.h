// Some blocks stream memory while others wait on ONE word in pinned host memory: the worst case known. Every read of
// the word crosses the bus, reads of the same line queue behind each other, and the memory traffic of unrelated blocks
// queues there too (9.5x slower with 528 pollers, measured on an H200).
#pragma once

#include "wic/site.h"

namespace sample {

struct alignas(16) Four {
  std::uint32_t v[4];
};

struct StreamTimes {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
};

/// What the waiting blocks do.
enum class HotFlagWaiters : std::uint8_t {
  wait,    ///< call wait_until, as the sample does
  absent,  ///< return at once: the same work without waiters
  bare,    ///< run a plain polling loop without the backend, as a baseline for the backend's `poll`
};

/// Launched with waiters + streamers blocks. The hardware assigns blocks to SMs in turn, so the roles alternate within
/// the blocks of each SM: every SM gets its share of both.
struct HotFlagKernel {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 8;

  wic::Site flag_site;
  wic::Site done_site;
  std::uint32_t iteration;

  std::uint32_t sm_count;
  std::uint32_t waiters;
  HotFlagWaiters role;
  const std::uint32_t* flag;  ///< pinned host memory: THE word
  std::uint32_t* consumed;    ///< device memory, one per waiter
  std::uint32_t* missed;      ///< device memory

  std::uint32_t streamers;
  Four* data;             ///< device memory
  std::size_t per_block;  ///< elements of `data` per streamer
  std::uint32_t passes;
  std::uint32_t arithmetic;  ///< multiplications per word
  std::uint32_t factor;      ///< 1, which the compiler must not know
  StreamTimes* times;        ///< device memory, one per streamer
  std::uint32_t* arrivals;   ///< device memory: finished streamers, over all iterations
  std::uint32_t* done;       ///< pinned host memory: the last streamer writes the iteration number

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t blocks = waiters + streamers;
    const std::uint32_t rows = blocks / sm_count;
    const bool whole_table = rows * sm_count == blocks;
    const std::uint32_t place =
        whole_table ? thread.block() % sm_count * rows + thread.block() / sm_count : thread.block();
    const auto before = static_cast<std::uint32_t>(std::uint64_t{place} * waiters / blocks);
    const auto after = static_cast<std::uint32_t>((std::uint64_t{place} + 1) * waiters / blocks);
    if (after == before) {
      stream(thread, place - before);
    } else if (role != HotFlagWaiters::absent) {
      consume(thread, before);
    }
  }

 private:
  WIC_DEVICE void consume(const wic::Thread& thread, std::uint32_t waiter) const {
    const wic::WaitResult wait = role == HotFlagWaiters::bare
                                     ? poll_bare(thread)
                                     : flag_site.wait(thread, iteration, flag, wic::AtLeast{iteration});
    if (thread.index() != 0) return;
    if (wait) {
      consumed[waiter] += wait.value;
    } else {
      thread.fetch_add(missed, 1);
    }
  }

  WIC_DEVICE wic::WaitResult poll_bare(const wic::Thread& thread) const {
    wic::WaitResult result{wic::WaitStatus::satisfied, 0};
    if (thread.index() == 0) {
      const std::uint64_t begin = thread.clock_ns();
      for (std::uint32_t polls = 1; !wic::AtLeast{iteration}(result.value = thread.load(flag)); ++polls) {
        if (polls % 64 == 0 && thread.clock_ns() - begin > flag_site.timeout_ns) {
          result.status = wic::WaitStatus::deadline_passed;
          break;
        }
      }
      thread.fence_acquire();
    }
    thread.sync_block();
    return result;
  }

  WIC_DEVICE void stream(const wic::Thread& thread, std::uint32_t streamer) const {
    const std::uint64_t begin = thread.clock_ns();
    Four* const mine = data + streamer * per_block;
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      for (std::size_t i = thread.index(); i < per_block; i += thread.block_size()) {
        Four four = mine[i];
        for (std::uint32_t round = 0; round < arithmetic; ++round) {
          for (std::uint32_t& v : four.v) v *= factor;
        }
        for (std::uint32_t& v : four.v) v += 1;
        mine[i] = four;
        thread.step();
      }
    }
    thread.sync_block();
    if (thread.index() != 0) return;
    times[streamer] = {begin, thread.clock_ns()};
    if (thread.fetch_add(arrivals, 1) + 1 == iteration * streamers) {
      done_site.signal(thread, iteration, done, iteration);
    }
  }
};

/// Counts elements whose value is not `expected`.
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
