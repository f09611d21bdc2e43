// A device that takes part: declared before its first event.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class DeviceKind : std::uint8_t { host = 0, cuda = 1, simt = 2 };

struct DeviceEvent {
  static constexpr EventKind kKind = EventKind::device;
  EventHeader header;
  DeviceId device;
  TextId name;
  std::uint64_t memory_bytes;
  std::uint32_t sm_count;
  std::uint16_t compute_major;  ///< 0 where it has no meaning
  std::uint16_t compute_minor;
  DeviceKind kind;
  std::uint8_t host_native_atomics;  ///< whether the device has atomics on host memory that the CPU sees as such
  std::uint8_t reserved[6];
};

}  // namespace wicprof
