#include "analyzer/work/launch_shape.h"

namespace wicprof::analyzer {
namespace {

std::uint64_t product(const std::uint32_t (&size)[3]) { return std::uint64_t{size[0]} * size[1] * size[2]; }

}  // namespace

LaunchShape shape_of(const store::KernelRow& kernel) {
  return {kernel.device,
          product(kernel.grid),
          static_cast<std::uint32_t>(product(kernel.block)),
          kernel.registers_per_thread,
          kernel.static_shared_bytes + kernel.dynamic_shared_bytes,
          kernel.shared_executed_bytes.value_or(0),
          static_cast<std::uint32_t>(product(kernel.cluster))};
}

std::optional<Occupancy> occupancy_of(const TraceModel& model, const LaunchShape& shape) {
  const store::DeviceRow* device = model.device(shape.device);
  if (device == nullptr) return std::nullopt;
  // Uses the shared memory that the SM was configured with. If no block would fit, that figure is wrong: uses the SM's
  // maximum.
  std::optional<Occupancy> found;
  if (shape.shared_executed > 0) found = occupancy(*device, shape.block(), shape.shared_executed);
  return found ? found : occupancy(*device, shape.block(), device->shared_bytes_per_sm);
}

}  // namespace wicprof::analyzer
