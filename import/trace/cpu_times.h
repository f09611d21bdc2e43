// When threads ran on a CPU, where a file says it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "import/trace/target.h"
#include "protocol/time.h"

namespace wicprof::imports {

/// One thread. Fill it, call settle(), then ask.
class CpuTimes {
 public:
  void on_cpu(Ring ring, std::uint32_t thread, TimeNs at);
  /// Without an on_cpu() before: the thread has run since the file's begin, which is not counted.
  void off_cpu(Ring ring, std::uint32_t thread, TimeNs at);
  void settle();

  /// CPU time in an interval. Nothing where the thread's first and last switch do not enclose it.
  std::optional<TimeNs> within(Ring ring, std::uint32_t thread, TimeNs begin, TimeNs end) const;

  struct Slice {
    Ring ring;
    std::uint32_t thread;
    TimeNs begin, end, cpu;
    std::uint64_t switches;  ///< times that the thread left the CPU
  };
  /// Slices of 100 ms, as a recording has them, in which the thread ran.
  void each_slice(const std::function<void(const Slice&)>& take) const;

 private:
  struct Run {
    TimeNs begin, end, before;  ///< before: CPU time of the runs before this one
  };
  struct Thread {
    std::vector<Run> runs;
    std::optional<TimeNs> since;  ///< on a CPU
    std::optional<TimeNs> first, last;
  };
  static void saw(Thread& thread, TimeNs at);
  static TimeNs until(const Thread& thread, TimeNs at);
  std::map<std::pair<Ring, std::uint32_t>, Thread> threads_;
};

}  // namespace wicprof::imports
