// Samples of one program counter, summed over an interval (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct PcSampleEvent {
  static constexpr EventKind kKind = EventKind::pc_sample;
  EventHeader header;
  DeviceId device;
  TextId function;
  std::uint64_t pc_offset;  ///< bytes from the start of the function
  std::int64_t at_ns;
  std::uint32_t stall_reason;
  std::uint32_t samples;
};

}  // namespace wicprof
