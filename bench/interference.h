// Blocks or warps that compute while others wait, all resident on the device at once.
#pragma once

#include "bench/start_line.h"
#include "bench/work.h"
#include "wic/wait.h"

namespace wicprof::bench {

enum class Waiting : std::uint8_t {
  absent,  ///< waiters return at once
  wait,    ///< call wait_until
  atomic,  ///< poll with atomic additions of 0, without the backend; device memory only
  asleep,  ///< sleep longer than the work lasts without polling: the cost of their presence alone
};

struct Span {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
};

/// whole_blocks: the hardware assigns blocks to SMs in turn, so rows of sm_count blocks give every SM its share: even
/// rows wait, odd rows compute. inside: the first warps of every block compute and the others wait as one group.
/// Separate kernels, because a full SM has only 32 registers per thread.
enum class Roles : std::uint8_t { whole_blocks, inside };

template <int kThreads, int kBlocks, Roles kRoles, Bound kBound>
struct InterferenceKernel {
  static constexpr int kMaxThreads = kThreads, kMinBlocksPerSm = kBlocks;
  static constexpr std::uint32_t kWaitBarrier = 1, kComputeBarrier = 2;

  wic::DeviceView view;
  SiteId site;
  std::uint32_t launch;  ///< from 1: the value that releases the flags
  std::uint64_t timeout_ns;

  std::uint32_t sm_count;
  std::uint32_t computing_warps;  ///< per block, with Roles::inside
  std::uint32_t computing;        ///< blocks that compute
  std::uint32_t waiters;          ///< groups that wait
  Waiting waiting;
  std::uint64_t asleep_ns;  ///< sleep time with Waiting::asleep

  std::uint32_t* flags;
  std::uint32_t flag_stride;  ///< words between two waiters' flags; 0 = one flag for all
  std::uint64_t extra_ns;     ///< from the end of the computation to the release
  Work work;

  Span* spans;              ///< one per computing block
  std::uint32_t* starts;    ///< blocks at the start line, over all launches
  std::uint32_t* finished;  ///< finished computing blocks, over all launches
  std::uint32_t* missed;    ///< number of missed deadlines
  std::uint32_t* on_sm;     ///< per SM: computing blocks, over all launches

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!cross_start_line(thread, starts, launch * thread.block_count(), timeout_ns) && thread.index() == 0) {
      thread.fetch_add(missed, 1);
    }
    if constexpr (kRoles == Roles::inside) {
      const std::uint32_t warps = thread.block_size() / wic::kWarpSize;
      if (thread.warp() < computing_warps) {
        compute(thread, thread.block(), computing_warps * wic::kWarpSize);
      } else if (waiting != Waiting::absent) {
        wait(thread, wic::warps_group(computing_warps, warps - computing_warps, kWaitBarrier), thread.block());
      }
    } else {
      const std::uint32_t row = thread.block() / sm_count;
      const std::uint32_t place = row / 2 * sm_count + thread.block() % sm_count;
      if (row % 2 == 1) {
        compute(thread, place, thread.block_size());
      } else if (waiting != Waiting::absent && place < waiters) {
        wait(thread, wic::block_group(thread), place);
      }
    }
  }

 private:
  WIC_DEVICE void wait(const wic::Thread& thread, const wic::Group& group, std::uint32_t waiter) const {
    if (waiting == Waiting::asleep) return sleep_through(thread, group);
    std::uint32_t* const flag = flags + std::size_t{waiter} * flag_stride;
    const bool satisfied =
        waiting == Waiting::atomic
            ? poll_atomically(thread, group, flag)
            : wic::wait_until(thread, view, group, site, launch, flag, wic::AtLeast{launch}, timeout_ns).status ==
                  WaitStatus::satisfied;
    if (!satisfied && group.is_leader(thread)) thread.fetch_add(missed, 1);
  }

  WIC_DEVICE bool poll_atomically(const wic::Thread& thread, const wic::Group& group, std::uint32_t* flag) const {
    bool satisfied = true;
    if (group.pollers == Pollers::each_thread || group.is_leader(thread)) {
      const std::uint64_t end = thread.clock_ns() + timeout_ns;
      while (satisfied && !wic::AtLeast{launch}(thread.fetch_add(flag, 0))) satisfied = thread.clock_ns() < end;
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    return satisfied;
  }

  WIC_DEVICE void sleep_through(const wic::Thread& thread, const wic::Group& group) const {
    if (group.pollers == Pollers::each_thread || group.is_leader(thread)) {
      const std::uint64_t end = thread.clock_ns() + asleep_ns;
      while (thread.clock_ns() < end) thread.sleep_ns(100'000);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
  }

  WIC_DEVICE void compute(const wic::Thread& thread, std::uint32_t part, std::uint32_t threads) const {
    const std::uint64_t begin = thread.clock_ns();
    work.run<kBound>(thread, part, computing, thread.index(), threads);
    thread.barrier(kRoles == Roles::inside ? kComputeBarrier : 0, threads);
    if (thread.index() != 0) return;
    spans[part] = {begin, thread.clock_ns()};
    thread.fetch_add(&on_sm[thread.sm() % sm_count], 1);
    if (thread.fetch_add(finished, 1) + 1 == launch * computing) release(thread);
  }

  // The flags carry no data, so relaxed stores suffice.
  WIC_DEVICE void release(const wic::Thread& thread) const {
    const std::uint64_t until = thread.clock_ns() + extra_ns;
    while (thread.clock_ns() < until) thread.sleep_ns(200);
    const std::uint32_t count = flag_stride == 0 ? 1 : waiters;
    for (std::uint32_t i = 0; i < count; ++i) thread.store(flags + std::size_t{i} * flag_stride, launch);
  }
};

}  // namespace wicprof::bench
