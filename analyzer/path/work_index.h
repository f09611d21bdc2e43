// Kernels, copies, synchronizations and events, indexed for the walk along the critical path.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A call in which a host thread waited for the device.
struct WaitingCall {
  TimeNs begin = 0, end = 0;
  store::ProcessId process = 0;
  std::optional<std::uint32_t> correlation;
};

/// Number of blocks of a kernel; for a whole graph, which may have any block, more than there can be.
std::uint64_t blocks_of(const store::KernelRow& kernel);

/// Points into the model and the work, which must outlive it. Queries take a binary search each. Leaves out what the
/// backend launched: the program does not wait for such work.
class WorkIndex {
  using ByStart = std::vector<const WorkItem*>;

 public:
  WorkIndex(const TraceModel& model, const DeviceWork& work);

  /// Of the kernels with that block that ran on a device at a time, the one that began last. Without one, the kernel
  /// that ended last before, if the clocks' error explains the gap; otherwise nullptr.
  const WorkItem* kernel_at(DeviceId device, TimeNs time, std::uint32_t block) const;
  /// Where the last of several queries ended. A query for a time close to that of the last one takes a few steps.
  struct Near {
    DeviceId device = kHostDevice;
    const ByStart* kernels = nullptr;
    std::size_t place = 0;
  };
  const WorkItem* kernel_at(DeviceId device, TimeNs time, std::uint32_t block, Near& near) const;
  /// The work that ended last during a call, of the work that the call waited for; nullptr if none ended.
  const WorkItem* waited_for(const WaitingCall& call) const;
  /// The work that ended last before `item` began, of its stream and of the stream that its stream waited for.
  const WorkItem* work_before(const WorkItem& item) const;

 private:
  using ByEnd = std::vector<const WorkItem*>;

  const ByEnd* waited_stream(const store::SyncRow& sync) const;
  const WorkItem* last_ended(const StreamKey& stream, TimeNs time, const WorkItem* except) const;

  std::unordered_map<std::uint64_t, const store::SyncRow*> syncs_;  // by process and correlation
  std::map<store::ProcessId, ByEnd> by_process_;
  std::map<StreamKey, ByEnd> by_stream_;
  std::map<DeviceId, ByStart> kernels_;  // by start
  std::map<DeviceId, TimeNs> clock_errors_;
  std::map<StreamKey, std::vector<const store::SyncRow*>> stream_waits_;  // by start
  std::map<std::pair<store::ProcessId, std::uint64_t>, const store::CudaEventRow*> recordings_;
};

}  // namespace wicprof::analyzer
