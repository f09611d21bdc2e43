// The counters of energy that the machine has: of GPUs by NVML, of processors by RAPL. Both count for the whole
// machine, whoever uses it. And what NVML says of the GPUs' clocks and temperatures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/events/device_state.h"

namespace wicprof::cli {

struct EnergySource {
  std::string name;                                       ///< "GPU 0 (NVIDIA H200)", "CPU package 0"
  std::function<std::optional<std::uint64_t>()> read_uj;  ///< microjoules since some time; nothing: cannot be read now
  std::uint64_t wraps_at = 0;                             ///< the count begins anew there; 0: it does not
};

struct DeviceStateSource {
  std::string uuid;                        ///< as in `device` of the trace
  std::function<DeviceStateEvent()> read;  ///< without text and time
};

struct EnergySources {
  std::vector<EnergySource> found;
  std::vector<DeviceStateSource> states;
  std::vector<std::string> lacking;  ///< sentences: what cannot be read, and why
};

/// Loads the driver's libnvidia-ml.so.1, which stays loaded. `powercap`: the system's folder of RAPL counters. One
/// thread at a time reads the sources.
EnergySources find_energy_sources(const std::string& powercap = "/sys/class/powercap");

}  // namespace wicprof::cli
