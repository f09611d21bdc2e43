// A barrier across all blocks of a kernel before the measured part; all blocks must be resident at once.
#pragma once

#include "wic/thread.h"

namespace wicprof::bench {

/// Called by all threads of every block; each block adds one to `arrived` (device memory). Returns true when `goal`
/// blocks have arrived over all launches, false after timeout_ns. The result is valid in thread 0.
WIC_DEVICE inline bool cross_start_line(const wic::Thread& thread, std::uint32_t* arrived, std::uint32_t goal,
                                        std::uint64_t timeout_ns) {
  bool in_time = true;
  if (thread.index() == 0) {
    const std::uint64_t end = thread.clock_ns() + timeout_ns;
    thread.fetch_add(arrived, 1);
    while (in_time && static_cast<std::int32_t>(thread.load(arrived) - goal) < 0) {
      thread.sleep_ns(200);
      in_time = thread.clock_ns() < end;
    }
  }
  thread.sync_warp();
  thread.sync_block();
  return in_time;
}

}  // namespace wicprof::bench
