#include "analyzer/work/pair_kernel.h"

namespace wicprof::analyzer {
namespace {

/// The most SMs of a device that clusters of this size leave without a block: a group of SMs with one scheduler of
/// clusters (GPC) holds whole clusters only, and has 16 SMs or a few more.
std::uint32_t lost_to_clusters(std::uint32_t sm_count, std::uint32_t cluster) {
  constexpr std::uint32_t kSmsPerGroup = 16;
  return cluster > 1 ? (cluster - 1) * ((sm_count + kSmsPerGroup - 1) / kSmsPerGroup) : 0;
}

}  // namespace

std::size_t LaunchedNumbers::Hash::operator()(const Launched& kernel) const {
  std::size_t hash = std::hash<const void*>{}(&kernel.name.text());  // equal names are one text
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29; };
  mix(kernel.shape.blocks);
  mix((std::uint64_t{kernel.shape.threads} << 32) | kernel.shape.registers);
  mix((std::uint64_t{kernel.shape.shared} << 32) | kernel.shape.shared_executed);
  mix((std::uint64_t{kernel.shape.cluster} << 32) | static_cast<std::uint32_t>(kernel.shape.device));
  return hash;
}

std::uint32_t LaunchedNumbers::number(const store::KernelRow& row) {
  const auto [entry, added] = numbers_.try_emplace({row.name, shape_of(row)}, static_cast<std::uint32_t>(list_.size()));
  if (added) list_.push_back(entry->first);
  return entry->second;
}

std::uint32_t places_per_sm(const PairKernel& kernel, std::uint32_t sm_count) {
  if (!kernel.persistent) return kernel.blocks_per_sm;
  return static_cast<std::uint32_t>((kernel.blocks + sm_count - 1) / sm_count);
}

PairKernel describe(const TraceModel& model, const Launched& kernel) {
  const LaunchShape& shape = kernel.shape;
  PairKernel described;
  described.name = kernel.name;
  described.blocks = shape.blocks;
  described.threads_per_block = shape.threads;
  described.blocks_per_cluster = shape.cluster;
  const std::optional<Occupancy> found = occupancy_of(model, shape);
  const store::DeviceRow* device = model.device(shape.device);
  if (!found || device == nullptr || device->sm_count == 0) return described;
  described.blocks_per_sm = found->blocks_per_sm;
  const std::uint64_t sms = device->sm_count, lost = lost_to_clusters(device->sm_count, shape.cluster);
  described.persistent = shape.blocks <= sms ? shape.blocks > 0 && shape.blocks + lost >= sms
                                             : shape.blocks % sms == 0 && shape.blocks / sms <= found->blocks_per_sm;
  if (shape.cluster > 1 && !described.persistent) return described;
  const auto in_waves = waves(shape.blocks, device->sm_count, places_per_sm(described, device->sm_count));
  if (!in_waves) return described;
  described.waves = in_waves->waves;
  described.last_wave_fill = in_waves->last_wave_fill;
  return described;
}

}  // namespace wicprof::analyzer
