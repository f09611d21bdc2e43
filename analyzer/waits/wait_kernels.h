// In which kernel each wait was, and which kernels have blocks that never wait.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/waiters.h"

namespace wicprof::analyzer {

/// The kernels of one device that run at a time; asked with times that grow.
class RunningKernels {
 public:
  void add(std::uint32_t kernel) { all_.push_back(kernel); }
  void advance(const TraceModel& model, TimeNs time);
  /// Indexes into TraceModel::kernels, in order of their begin.
  const std::vector<std::uint32_t>& now() const { return running_; }

 private:
  std::vector<std::uint32_t> all_, running_;
  std::size_t next_ = 0;
};
std::map<DeviceId, RunningKernels> running_kernels(const TraceModel& model);

class WaitKernels {
 public:
  static constexpr std::uint32_t kNone = FlatIndex::kNone;

  WaitKernels(const TraceModel& model, const Waiters& waiters);

  /// Of a wait, by index: the kernel of its device that ran when it began; of several the one that began last. kNone
  /// where none is recorded.
  std::uint32_t kernel_of(std::size_t wait) const { return kernel_of_.empty() ? kNone : kernel_of_[wait]; }
  /// Kernels of one name and shape are one kind.
  std::uint32_t kind_of(std::size_t kernel) const { return kind_of_[kernel]; }
  const std::string& kind_name(std::uint32_t kind) const { return names_[kind]; }
  /// Whether nobody waits in kernels of that kind, as far as can be told: where kernels ran side by side, a wait is
  /// taken to be in one of a kind that waits when it runs alone.
  bool waitless(std::uint32_t kind) const { return !waits_[kind] && !unclear_[kind]; }
  /// When kernels ran on a device that have more blocks than waited in them.
  std::vector<Interval> with_independent_blocks(const TraceModel& model, DeviceId device) const;

 private:
  std::vector<std::string> names_;
  std::vector<bool> waits_, unclear_;              // by kind
  std::vector<std::uint32_t> kind_of_;             // by kernel
  std::vector<std::uint32_t> kernel_of_;           // by wait
  std::vector<std::uint32_t> blocks_that_waited_;  // by kernel
};

}  // namespace wicprof::analyzer
