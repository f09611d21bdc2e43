// What a meter of energy showed: of a GPU, or of a processor's package. wic-prof reads it from outside the program.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct EnergyEvent {
  static constexpr EventKind kKind{35};
  EventHeader header;
  TextId meter;  ///< the meter's name, such as "GPU 0 (NVIDIA H200)"
  std::uint32_t reserved;
  std::int64_t at_ns;       ///< host time at which the count changed to `energy_uj`, or was read
  std::uint64_t energy_uj;  ///< since the first reading of the recording
};

}  // namespace wicprof
