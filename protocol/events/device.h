// A device of the program, declared before its first event.
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
  std::uint16_t compute_major;  ///< 0 for a device that is no GPU
  std::uint16_t compute_minor;
  DeviceKind kind;
  std::uint8_t host_native_atomics;  ///< whether its atomics on host memory are also atomic for the CPU
  std::uint8_t reserved[2];
  TextId uuid;  ///< identifies the device across processes, which number devices independently; 0 = not known
  // What a kernel's occupancy depends on; 0 = not known.
  std::uint32_t max_threads_per_sm;
  std::uint32_t max_blocks_per_sm;
  std::uint32_t registers_per_sm;
  std::uint32_t shared_bytes_per_sm;
  std::uint32_t reserved_shared_bytes_per_block;  ///< shared memory of each block that the system reserves
  std::uint32_t clock_khz;
};

}  // namespace wicprof
