// The shape of a kernel's launch: everything that its occupancy and its waves depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "analyzer/trace/trace_model.h"
#include "analyzer/work/occupancy.h"

namespace wicprof::analyzer {

struct LaunchShape {
  DeviceId device = 0;
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0, registers = 0, shared = 0, shared_executed = 0;  ///< per block, thread, block, SM
  std::uint32_t cluster = 0;                                                  ///< blocks; 0: no clusters

  auto key() const { return std::tie(device, blocks, threads, registers, shared, shared_executed, cluster); }
  bool operator<(const LaunchShape& other) const { return key() < other.key(); }
  bool operator==(const LaunchShape& other) const { return key() == other.key(); }
  BlockShape block() const { return {threads, registers, shared}; }
};

LaunchShape shape_of(const store::KernelRow& kernel);

/// Empty if the device's limits are unknown. Clusters may leave an SM with fewer blocks.
std::optional<Occupancy> occupancy_of(const TraceModel& model, const LaunchShape& shape);

}  // namespace wicprof::analyzer
