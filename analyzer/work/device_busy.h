// How much of the time each device had something to do.
#pragma once

#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct DeviceBusy {
  DeviceId device = 0;
  TimeNs busy_ns = 0;   ///< the union of its kernels and copies
  TimeNs of_ns = 0;     ///< the traced time
  double idle() const;  ///< the share of the traced time without a kernel or copy, 0 to 1
};

/// Devices with at least one kernel or copy, by number. The traced time is that of all devices, so that a device that
/// joins late counts as idle until then.
std::vector<DeviceBusy> device_busy(const TraceModel& model);

}  // namespace wicprof::analyzer
