// How much of the time each device had something to do.
#pragma once

#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct DeviceBusy {
  DeviceId device = 0;
  TimeNs busy_ns = 0;   ///< the union of its kernels and copies
  TimeNs of_ns = 0;     ///< the interval
  double idle() const;  ///< the share of the interval without a kernel or copy, 0 to 1
};

/// Devices with at least one kernel or copy, by number, within an interval, such as the traced time: that is the time
/// of all devices, so that a device that joins late counts as idle until then.
std::vector<DeviceBusy> device_busy(const TraceModel& model, Interval within);

}  // namespace wicprof::analyzer
