// What NVML said of a GPU. wic-prof reads it from outside the program.
#pragma once

#include <limits>

#include "protocol/events/header.h"

namespace wicprof {

struct DeviceStateEvent {
  static constexpr EventKind kKind{36};
  static constexpr std::int32_t kUnknownTemperature = std::numeric_limits<std::int32_t>::min();
  static constexpr std::uint64_t kUnknownReasons = ~std::uint64_t{0};
  EventHeader header;
  TextId uuid;  ///< as in DeviceEvent; of a whole GPU
  std::uint32_t sm_clock_mhz;
  std::uint32_t max_sm_clock_mhz;
  std::uint32_t memory_clock_mhz;  ///< clocks: 0 = not known
  std::int32_t temperature_c;
  std::uint32_t reserved;
  std::int64_t at_ns;              ///< host time
  std::uint64_t slowdown_reasons;  ///< bits of SlowdownReason: why the clock is lower than it could be
};

/// NVML's bits (nvmlClocksEventReasons).
enum class SlowdownReason : std::uint64_t {
  idle = 0x1,
  clocks_setting = 0x2,
  power_cap = 0x4,
  hardware_slowdown = 0x8,
  sync_boost = 0x10,
  thermal_slowdown = 0x20,
  hardware_thermal_slowdown = 0x40,
  power_brake = 0x80,
  display_clocks_setting = 0x100,
};

}  // namespace wicprof
