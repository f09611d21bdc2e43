#include "analyzer/work/kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

// Everything that occupancy and waves depend on.
struct Shape {
  DeviceId device;
  std::uint64_t blocks;
  std::uint32_t threads, registers, shared, shared_executed, cluster;

  auto key() const { return std::tie(device, blocks, threads, registers, shared, shared_executed, cluster); }
  bool operator<(const Shape& other) const { return key() < other.key(); }
};

std::uint64_t product(const std::uint32_t (&size)[3]) { return std::uint64_t{size[0]} * size[1] * size[2]; }

Shape shape_of(const store::KernelRow& kernel) {
  return {kernel.device,
          product(kernel.grid),
          static_cast<std::uint32_t>(product(kernel.block)),
          kernel.registers_per_thread,
          kernel.static_shared_bytes + kernel.dynamic_shared_bytes,
          kernel.shared_executed_bytes.value_or(0),
          static_cast<std::uint32_t>(product(kernel.cluster))};
}

struct Launches {
  std::vector<TimeNs> times;
  std::map<Shape, TimeNs> by_shape;
  std::set<DeviceId> devices;
};

void describe(const TraceModel& model, const Shape& shape, KernelStats& stats) {
  stats.blocks = shape.blocks;
  stats.threads_per_block = shape.threads;
  stats.registers_per_thread = shape.registers;
  stats.shared_bytes_per_block = shape.shared;
  stats.blocks_per_cluster = shape.cluster;
  const store::DeviceRow* device = model.device(shape.device);
  if (device == nullptr) return;
  const BlockShape block{shape.threads, shape.registers, shape.shared};
  // Uses the shared memory that the SM was configured with. If no block would fit, that figure is wrong: uses the SM's
  // maximum.
  if (shape.shared_executed > 0) stats.occupancy = occupancy(*device, block, shape.shared_executed);
  if (!stats.occupancy) stats.occupancy = occupancy(*device, block, device->shared_bytes_per_sm);
  if (stats.occupancy) stats.waves = waves(shape.blocks, device->sm_count, stats.occupancy->blocks_per_sm);
}

}  // namespace

std::vector<KernelStats> kernel_stats(const TraceModel& model) {
  std::map<std::string_view, Launches> by_name;
  for (const store::KernelRow& kernel : model.kernels) {
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
