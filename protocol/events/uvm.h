// Managed memory: a page fault, migration or thrashing (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class UvmKind : std::uint8_t { cpu_fault = 0, gpu_fault = 1, host_to_device = 2, device_to_host = 3, thrashing = 4 };

struct UvmEvent {
  static constexpr EventKind kKind = EventKind::uvm;
  EventHeader header;
  std::uint64_t address;
  std::uint64_t bytes;
  std::int64_t start_ns;
  std::int64_t end_ns;
  DeviceId device;
  UvmKind kind;
  std::uint8_t reserved[3];
};

}  // namespace wicprof
