// Managed memory: a page fault, migration or thrashing (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class UvmKind : std::uint8_t {
  cpu_fault = 0,
  gpu_fault = 1,
  host_to_device = 2,
  device_to_host = 3,
  thrashing = 4,
  throttling = 5,
  remote_map = 6,
  device_to_device = 7,
};

struct UvmEvent {
  static constexpr EventKind kKind{16};
  EventHeader header;
  std::uint64_t address;
  std::uint64_t bytes;
  std::int64_t start_ns;
  std::int64_t end_ns;
  DeviceId device;       ///< device that faulted, or destination of a migration; the host for CPU faults
  DeviceId peer_device;  ///< source of a migration; else the same as device
  std::uint64_t count;   ///< faults of a group of GPU faults; else 1
  TextId cause;          ///< cause of a migration, or access type of a fault; 0 = not known
  UvmKind kind;
  std::uint8_t reserved[3];
};

}  // namespace wicprof
