// How many blocks of a kernel an SM holds, what limits this number, and in how many waves the grid runs. Computed from
// the trace's data on kernel and device by NVIDIA's allocation rules (see cuda_occupancy.h of the toolkit).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/format/rows.h"

namespace wicprof::analyzer {

/// The resources that a block needs.
struct BlockShape {
  std::uint32_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic, without the bytes that the system reserves
};

enum class OccupancyLimit { threads, blocks, registers, shared_memory };
/// "threads", "blocks", "registers", "shared memory".
std::string_view occupancy_limit_name(OccupancyLimit limit);

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;
  double occupancy = 0;                            ///< warps of these blocks / largest number of warps per SM
  OccupancyLimit limit = OccupancyLimit::threads;  ///< the tightest limit; of equal ones, the first in the enum
  // Blocks per SM by each limit alone; empty if the kernel does not use the resource.
  std::uint32_t by_threads = 0, by_blocks = 0;
  std::optional<std::uint32_t> by_registers, by_shared_memory;
};

/// `shared_bytes_per_sm`: the SM's configuration for the kernel, or its maximum. Empty if the device's limits are
/// unknown, or if no block fits (then an input is wrong, since the kernel did run). With clusters, an SM may hold fewer
/// blocks.
std::optional<Occupancy> occupancy(const store::DeviceRow& device, const BlockShape& shape,
                                   std::uint32_t shared_bytes_per_sm);

/// How many blocks of `shape` an SM holds beside `others` blocks of `other`, with all its shared memory. Assumes that
/// the device's limits are known, and counts an SM's registers as a whole: an upper bound.
std::uint32_t blocks_beside(const store::DeviceRow& device, const BlockShape& shape, const BlockShape& other,
                            std::uint32_t others);

/// A grid runs in waves: as many blocks as fit fill the device, the others wait for the next wave.
struct Waves {
  double waves = 0;           ///< blocks / (SMs x blocks per SM)
  double last_wave_fill = 0;  ///< the share of the device that the last wave fills, up to 1
};
/// Empty for an empty grid or a device without SMs.
std::optional<Waves> waves(std::uint64_t blocks, std::uint32_t sm_count, std::uint32_t blocks_per_sm);

}  // namespace wicprof::analyzer
