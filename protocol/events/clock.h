// One reading of a device clock beside the host clock; the recorder maps device times by the readings around them.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// host_ns = the host time at which the device clock showed device_ns, right within +-error_ns.
struct ClockEvent {
  static constexpr EventKind kKind{3};
  EventHeader header;
  std::uint64_t device_ns;
  std::int64_t host_ns;
  std::uint32_t error_ns;  ///< half the round trip of the best exchange
  DeviceId device;
};

}  // namespace wicprof
