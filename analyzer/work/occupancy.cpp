#include "analyzer/work/occupancy.h"

#include <algorithm>

namespace wicprof::analyzer {
namespace {

constexpr std::uint32_t kWarp = 32;
// A warp's registers are allocated in units of 256, from its scheduler's part of the register file.
constexpr std::uint32_t kRegisterUnit = 256;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::uint32_t schedulers(const store::DeviceRow& device) {
  return device.compute_major == 6 && device.compute_minor == 0 ? 2 : 4;
}

std::uint32_t shared_unit(const store::DeviceRow& device) { return device.compute_major >= 8 ? 128 : 256; }

std::uint32_t warps_of(const BlockShape& shape) {
  return static_cast<std::uint32_t>(round_up(shape.threads, kWarp) / kWarp);
}

std::uint64_t shared_of(const store::DeviceRow& device, const BlockShape& shape) {
  return round_up(std::uint64_t{shape.shared_bytes} + device.reserved_shared_bytes_per_block, shared_unit(device));
}

std::uint64_t registers_of(const BlockShape& shape) {
  return warps_of(shape) * round_up(std::uint64_t{shape.registers_per_thread} * kWarp, kRegisterUnit);
}

std::uint32_t blocks_by_registers(const store::DeviceRow& device, std::uint32_t warps, std::uint32_t registers) {
  const std::uint64_t registers_per_warp = round_up(std::uint64_t{registers} * kWarp, kRegisterUnit);
  const std::uint64_t warps_per_scheduler = device.registers_per_sm / schedulers(device) / registers_per_warp;
  return static_cast<std::uint32_t>(warps_per_scheduler * schedulers(device) / warps);
}

}  // namespace

std::string_view occupancy_limit_name(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::blocks:
      return "blocks";
    case OccupancyLimit::registers:
      return "registers";
    case OccupancyLimit::shared_memory:
      return "shared memory";
    case OccupancyLimit::threads:
      break;
  }
  return "threads";
}

std::optional<Occupancy> occupancy(const store::DeviceRow& device, const BlockShape& shape,
                                   std::uint32_t shared_bytes_per_sm) {
  const std::uint32_t max_warps = device.max_threads_per_sm / kWarp;
  if (max_warps == 0 || device.max_blocks_per_sm == 0 || device.compute_major == 0 || shape.threads == 0) return {};
  const std::uint32_t warps = warps_of(shape);

  Occupancy found;
  found.by_threads = max_warps / warps;
  found.by_blocks = device.max_blocks_per_sm;
  found.blocks_per_sm = found.by_threads;
  const auto limited = [&](std::uint32_t blocks, OccupancyLimit by) {
    if (blocks >= found.blocks_per_sm) return;
    found.blocks_per_sm = blocks;
    found.limit = by;
  };
  limited(found.by_blocks, OccupancyLimit::blocks);
  if (shape.registers_per_thread > 0 && device.registers_per_sm > 0) {
    found.by_registers = blocks_by_registers(device, warps, shape.registers_per_thread);
    limited(*found.by_registers, OccupancyLimit::registers);
  }
  const std::uint64_t shared = shared_of(device, shape);
  if (shared > 0 && shared_bytes_per_sm > 0) {
    found.by_shared_memory = static_cast<std::uint32_t>(shared_bytes_per_sm / shared);
    limited(*found.by_shared_memory, OccupancyLimit::shared_memory);
  }
  if (found.blocks_per_sm == 0) return {};
  found.occupancy = static_cast<double>(std::uint64_t{found.blocks_per_sm} * warps) / max_warps;
  return found;
}

std::uint32_t blocks_beside(const store::DeviceRow& device, const BlockShape& shape, const BlockShape& other,
                            std::uint32_t others) {
  std::uint64_t room = ~std::uint64_t{0};
  const auto limited = [&](std::uint64_t all, std::uint64_t each, std::uint64_t taken) {
    if (each > 0 && all > 0) room = std::min(room, all > taken * others ? (all - taken * others) / each : 0);
  };
  limited(device.max_threads_per_sm / kWarp, warps_of(shape), warps_of(other));
  limited(device.max_blocks_per_sm, 1, 1);
  limited(device.registers_per_sm, registers_of(shape), registers_of(other));
  limited(device.shared_bytes_per_sm, shared_of(device, shape), shared_of(device, other));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(room, device.max_blocks_per_sm));
}

std::optional<Waves> waves(std::uint64_t blocks, std::uint32_t sm_count, std::uint32_t blocks_per_sm) {
  const std::uint64_t at_once = std::uint64_t{sm_count} * blocks_per_sm;
  if (blocks == 0 || at_once == 0) return {};
  const std::uint64_t rest = blocks % at_once;
  return Waves{static_cast<double>(blocks) / static_cast<double>(at_once),
               rest == 0 ? 1.0 : static_cast<double>(rest) / static_cast<double>(at_once)};
}

}  // namespace wicprof::analyzer
