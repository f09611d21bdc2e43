// Readings of the devices' clocks beside the host's, for the trace: they place device times on the host's clock.
#pragma once

#include <string>
#include <vector>

#include "src/runtime/device_memory.h"
#include "src/runtime/trace_link.h"

namespace wic {

/// One thread at a time.
class ClockReadings {
 public:
  ClockReadings(const std::vector<DeviceMemory>& devices, TraceLink& trace) : devices_(devices), trace_(trace) {}

  /// Waits for one reading per device: without it no device time can be placed. Returns a warning where a device gave
  /// none, else an empty text.
  std::string take_first();
  /// Writes the readings that have arrived, and requests the next ones when they are due. Does not wait.
  void take_more();

 private:
  // Frequent at first, then less and less: the longer two clocks have been compared, the better their drift is known.
  static constexpr TimeNs kFirstInterval = 10 * kMillisecond;
  static constexpr TimeNs kLastInterval = 500 * kMillisecond;

  bool take(const DeviceMemory& memory);

  const std::vector<DeviceMemory>& devices_;
  TraceLink& trace_;
  TimeNs interval_ = kFirstInterval;
  TimeNs next_request_ = now_ns() + kFirstInterval;
};

}  // namespace wic
