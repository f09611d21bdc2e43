// How many blocks of a kernel an SM holds at once, what limits that, and how many waves the grid goes in: arithmetic on
// what the trace says of the kernel and the device, by NVIDIA's rules of allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/format/rows.h"

namespace wicprof::analyzer {

/// What a launch asks of an SM.
struct BlockShape {
  std::uint32_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic, without what the system reserves
};

enum class OccupancyLimit { threads, blocks, registers, shared_memory };
/// "threads", "blocks", "registers", "shared memory".
std::string_view occupancy_limit_name(OccupancyLimit limit);

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;
  double occupancy = 0;                            ///< warps of these blocks / the warps that an SM can hold
  OccupancyLimit limit = OccupancyLimit::threads;  ///< the tightest; the first of them in the order of the enum
  // Blocks an SM by each limit alone; nothing where the kernel uses none of it.
  std::uint32_t by_threads = 0, by_blocks = 0;
  std::optional<std::uint32_t> by_registers, by_shared_memory;
};

/// `shared_bytes_per_sm`: as the SM was set up for the kernel, or what it has at most. Nothing where the device's
/// limits are not known or not one block fits (then one of the figures is wrong, since the kernel did run). Clusters
/// may hold fewer blocks than this says.
std::optional<Occupancy> occupancy(const store::DeviceRow& device, const BlockShape& shape,
                                   std::uint32_t shared_bytes_per_sm);

/// A grid in waves: blocks that run at once fill the device, the rest waits for the next wave.
struct Waves {
  double waves = 0;           ///< blocks / (SMs x blocks an SM)
  double last_wave_fill = 0;  ///< the part of the device that the last wave fills; 1 = whole
};
/// Nothing for an empty grid or a device without SMs.
std::optional<Waves> waves(std::uint64_t blocks, std::uint32_t sm_count, std::uint32_t blocks_per_sm);

}  // namespace wicprof::analyzer
