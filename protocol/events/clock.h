// One pair of readings of a device's clock and the host's; the recorder converts device times by the pairs around them.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// host_ns = the host time at which the device clock showed device_ns, within +-error_ns.
struct ClockEvent {
  static constexpr EventKind kKind{3};
  EventHeader header;
  std::uint64_t device_ns;
  std::int64_t host_ns;
  std::uint32_t error_ns;  ///< half the round trip of the best exchange
  DeviceId device;
};

}  // namespace wicprof
