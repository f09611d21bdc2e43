// What the samples of one interval are a part of (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct PcIntervalEvent {
  static constexpr EventKind kKind{23};
  EventHeader header;
  DeviceId device;
  std::uint32_t context;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint64_t samples;          ///< all that were taken, those of other programs' kernels included
  std::uint64_t dropped;          ///< of these, for want of room in a buffer
  std::uint64_t foreign_samples;  ///< of these, in kernels of other programs
  std::uint64_t period_cycles;    ///< of the SM between two samples of one of its schedulers
};

}  // namespace wicprof
