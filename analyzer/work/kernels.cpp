#include "analyzer/work/kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/runtime_names.h"
#include "analyzer/work/launch_shape.h"

namespace wicprof::analyzer {
namespace {

struct Launches {
  std::vector<TimeNs> times;
  std::map<LaunchShape, TimeNs> by_shape;
  std::set<DeviceId> devices;
};

void describe(const TraceModel& model, const LaunchShape& shape, KernelStats& stats) {
  stats.blocks = shape.blocks;
  stats.threads_per_block = shape.threads;
  stats.registers_per_thread = shape.registers;
  stats.shared_bytes_per_block = shape.shared;
  stats.blocks_per_cluster = shape.cluster;
  stats.occupancy = occupancy_of(model, shape);
  if (stats.occupancy) {
    stats.waves = waves(shape.blocks, model.device(shape.device)->sm_count, stats.occupancy->blocks_per_sm);
  }
}

}  // namespace

bool ProgramKernels::operator()(const store::KernelRow& kernel) {
  const auto [known, fresh] = names_.try_emplace(&kernel.name.text(), false);
  if (fresh) known->second = !is_runtime_kernel(kernel.name);
  return known->second;
}

std::size_t count_program_kernels(const TraceModel& model) {
  ProgramKernels of_program;
  return static_cast<std::size_t>(std::count_if(model.kernels.begin(), model.kernels.end(),
                                                [&](const auto& kernel) { return of_program(kernel); }));
}

std::vector<KernelStats> kernel_stats(const TraceModel& model) {
  std::map<std::string_view, Launches> by_name;
  ProgramKernels of_program;
  for (const store::KernelRow& kernel : model.kernels) {
    if (!of_program(kernel)) continue;
    Launches& launches = by_name[kernel.name];
    const TimeNs took = std::max<TimeNs>(0, kernel.end - kernel.start);
    launches.times.push_back(took);
    launches.by_shape[shape_of(kernel)] += took;
    launches.devices.insert(kernel.device);
  }
  std::vector<KernelStats> all;
  for (const auto& [name, launches] : by_name) {
    KernelStats stats;
    stats.name = name;
    stats.count = launches.times.size();
    for (const TimeNs time : launches.times) stats.total_ns += time;
    stats.p50_ns = percentile(launches.times, 50);
    stats.p99_ns = percentile(launches.times, 99);
    stats.max_ns = percentile(launches.times, 100);
    const double device_time = static_cast<double>(model.span()) * static_cast<double>(launches.devices.size());
    stats.share = device_time > 0 ? static_cast<double>(stats.total_ns) / device_time : 0;
    stats.shapes = launches.by_shape.size();
    const auto most = std::max_element(launches.by_shape.begin(), launches.by_shape.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    describe(model, most->first, stats);
    all.push_back(std::move(stats));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const KernelStats& a, const KernelStats& b) { return a.total_ns > b.total_ns; });
  return all;
}

}  // namespace wicprof::analyzer
