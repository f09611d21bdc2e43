// The time of each kernel, and how well its launches fill the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/work/occupancy.h"

namespace wicprof::analyzer {

/// All launches of kernels with one name.
struct KernelStats {
  std::string name;
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  double share = 0;          ///< total_ns / (devices used x traced time); above 1 if launches overlap
  std::uint64_t shapes = 0;  ///< distinct shapes: device, grid, block, registers, shared memory

  // Of the shape with the most total time. Occupancy and waves are empty if the device's limits are unknown.
  std::uint64_t blocks = 0;
  std::uint32_t threads_per_block = 0, registers_per_thread = 0, shared_bytes_per_block = 0;
  std::uint32_t blocks_per_cluster = 0;  ///< 0: no clusters
  std::optional<Occupancy> occupancy;
  std::optional<Waves> waves;
};

/// Tells the program's kernels from the runtime's own. Examines each name once; one thread.
class ProgramKernels {
 public:
  bool operator()(const store::KernelRow& kernel);

 private:
  std::unordered_map<const std::string*, bool> names_;  // equal names share their text
};
/// The number of launches of the program's kernels.
std::size_t count_program_kernels(const TraceModel& model);

/// Of the program's kernels; longest total time first.
std::vector<KernelStats> kernel_stats(const TraceModel& model);

}  // namespace wicprof::analyzer
