// Totals of the samples of one interval (host times).
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
  std::uint64_t samples;          ///< all samples taken, including other programs' kernels
  std::uint64_t dropped;          ///< of these, dropped because a buffer was full
  std::uint64_t foreign_samples;  ///< of these, in kernels of other programs
  std::uint64_t period_cycles;    ///< SM cycles between two samples of one scheduler
};

}  // namespace wicprof
