// A device that takes part: declared before its first event.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class DeviceKind : std::uint8_t { host = 0, cuda = 1, simt = 2 };

struct DeviceEvent {
  static constexpr EventKind kKind{2};
  EventHeader header;
  DeviceId device;
  TextId name;
  std::uint64_t memory_bytes;
  std::uint32_t sm_count;
  std::uint16_t compute_major;  ///< 0 where it has no meaning
  std::uint16_t compute_minor;
  DeviceKind kind;
  std::uint8_t host_native_atomics;  ///< whether the device has atomics on host memory that the CPU sees as such
  std::uint8_t reserved[2];
  TextId uuid;  ///< tells devices of different processes apart, which number them for themselves; 0 = not known
  // What a kernel's occupancy depends on; 0 = not known.
  std::uint32_t max_threads_per_sm;
  std::uint32_t max_blocks_per_sm;
  std::uint32_t registers_per_sm;
  std::uint32_t shared_bytes_per_sm;
  std::uint32_t reserved_shared_bytes_per_block;  ///< what the system takes of each block's shared memory
  std::uint32_t clock_khz;
};

}  // namespace wicprof
