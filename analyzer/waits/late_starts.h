// Work that began late though nothing of its own process ran or was queued in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// What begins late by less is not looked at: a launch takes some 10 us. Not calibrated.
inline constexpr TimeNs kLeastLateStart = 200 * kMicrosecond;

struct LateStart {
  store::ProcessId process = 0;
  std::uint32_t context = 0;
  DeviceId device = 0;
  std::optional<std::size_t> kernel;  ///< its row; of a copy or a memset nothing
  /// From when nothing kept the work back any more: its call had returned, and all earlier work of the process, on
  /// each device, had ended. Until it began.
  TimeNs begin = 0, end = 0;
};

/// Calls that put functions of the host into streams: work behind such a function begins when it has returned.
std::uint64_t host_functions(const TraceModel& model);
/// Whether there are enough of them to be what work or threads waited for so often: half as many at least.
bool behind_host_functions(const TraceModel& model, std::uint64_t times);

/// By at least 200 us and the device's clock error. Only work whose call is known, and of the nodes of a graph the
/// first; none of a process that let streams wait for what the trace does not show: host functions, values in memory,
/// prefetches, events of other processes, and, where no copies are recorded, copies. By start.
std::vector<LateStart> late_starts(const TraceModel& model, const DeviceWork& work);

}  // namespace wicprof::analyzer
