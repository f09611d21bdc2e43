// Finds the kernel of each wait, and the kernels with blocks that never wait.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/waiters.h"

namespace wicprof::analyzer {

/// The kernels that run on one device at a time.
class RunningKernels {
 public:
  void add(std::uint32_t kernel) { all_.push_back(kernel); }
  /// Times must not decrease between calls.
  void advance(const TraceModel& model, TimeNs time);
  /// Indexes into TraceModel::kernels, in order of start.
  const std::vector<std::uint32_t>& now() const { return running_; }

 private:
  std::vector<std::uint32_t> all_, running_;
  std::size_t next_ = 0;
  TimeNs changes_ = std::numeric_limits<TimeNs>::min();  // no kernel begins before this time, and none has ended
};
std::map<DeviceId, RunningKernels> running_kernels(const TraceModel& model);

class WaitKernels {
 public:
  static constexpr std::uint32_t kNone = FlatIndex::kNone;

  WaitKernels(const TraceModel& model, const Waiters& waiters);

  /// The kernel that ran on the wait's device when the wait began; the last one to start if there were several; kNone
  /// if none is recorded. `wait`: index into TraceModel::waits.
  std::uint32_t kernel_of(std::size_t wait) const { return kernel_of_.empty() ? kNone : kernel_of_[wait]; }
  /// Kernels with the same name, grid and block are of one kind.
  std::uint32_t kind_of(std::size_t kernel) const { return kind_of_[kernel]; }
  const std::string& kind_name(std::uint32_t kind) const { return names_[kind]; }
  /// Whether kernels of this kind contain no waits, as far as the trace shows. A wait during concurrent kernels is
  /// attributed to a kind that also waits when it runs alone; if there is none, all the concurrent kinds are unclear.
  bool waitless(std::uint32_t kind) const { return !waits_[kind] && !unclear_[kind]; }
  /// The times of the device's kernels in which some blocks never waited.
  std::vector<Interval> with_independent_blocks(const TraceModel& model, DeviceId device) const;

 private:
  std::vector<std::string> names_;
  std::vector<bool> waits_, unclear_;              // by kind
  std::vector<std::uint32_t> kind_of_;             // by kernel
  std::vector<std::uint32_t> kernel_of_;           // by wait
  std::vector<std::uint32_t> blocks_that_waited_;  // by kernel
};

}  // namespace wicprof::analyzer
