// Events that were lost on the way to the ring. Loss is data: the recorder turns each into a stat row.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class LossSource : std::uint8_t { ring = 0, device_ring = 1, cupti = 2, clock = 3, store = 4, pc_sampling = 5 };

struct LossEvent {
  static constexpr EventKind kKind{14};
  EventHeader header;
  std::uint64_t count;
  std::int64_t at_ns;
  DeviceId device;
  TextId reason;  ///< 0 = none
  LossSource source;
  std::uint8_t reserved[7];
};

}  // namespace wicprof
