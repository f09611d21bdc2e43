// What NVML said of the GPUs of a job's ranks while these ran kernels: whether a GPU that is slower has a lower clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "protocol/events/device_state.h"

namespace wicprof::analyzer {

/// Of the GPU on which a process ran kernels longest, from the first to the last of these, without readings of an idle
/// GPU.
struct DeviceStates {
  std::string uuid;
  std::size_t readings = 0;                            ///< that have the SMs' clock
  double sm_clock_mhz = 0;                             ///< mean
  std::optional<std::int32_t> temperature_c;           ///< highest
  std::map<SlowdownReason, std::size_t> slowed_times;  ///< readings with that reason
};

/// One rank's GPU beside those of other ranks.
struct ComparedDevices {
  DeviceStates late;
  double usual_clock_mhz = 0;                       ///< median of the others' means
  std::optional<std::int32_t> usual_temperature_c;  ///< median of the others' highest

  double clock_share() const { return late.sm_clock_mhz / usual_clock_mhz; }
  bool same_clock() const;
  /// Whether the clock explains half of the time by which work takes longer that takes so many times as long. Not under
  /// a power cap, which may lower the clock of a GPU since that one has more work.
  bool explains(double times) const;
};

/// Empty where the trace lacks readings of the late process's GPU, or of any other one of these processes.
std::optional<ComparedDevices> compare_devices(const TraceModel& model, store::ProcessId late,
                                               const std::vector<store::ProcessId>& all);

}  // namespace wicprof::analyzer
