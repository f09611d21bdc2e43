// Host threads that launch into one stream: the stream's order makes each thread's work wait for the others', also
// where the device has room for both.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct SharedStream {
  StreamKey stream;
  std::set<std::uint32_t> threads;  ///< that launched into the stream and waited in calls of CUDA
  std::uint64_t launches = 0;       ///< of these threads
  std::uint64_t held = 0;           ///< of them: what had to wait for work of another thread beside which it had room
  TimeNs held_ns = 0;               ///< in which at least one did, while its thread waited; within the ground
};

/// Only work whose call was recorded; streams with work held up, most time first. A kernel has
/// room where its blocks fit beside those of all kernels that run, a copy beside kernels and copies of another kind.
/// Work of a thread that never waits does not count: it may be what the other thread's work needs, as of PyTorch's
/// thread for the backward pass.
std::vector<SharedStream> shared_streams(const TraceModel& model, const DeviceWork& work, Interval ground);

}  // namespace wicprof::analyzer
