#include "src/runtime/clock_readings.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace wic {

namespace {
constexpr TimeNs kFirstReadingTimeout = 2 * kSecond;
}

std::string ClockReadings::take_first() {
  std::string warning;
  for (const DeviceMemory& memory : devices_) {
    memory.device().request_clock_reading();
    const TimeNs end = now_ns() + kFirstReadingTimeout;
    while (!take(memory)) {
      if (now_ns() > end) {
        warning = "the clock of " + memory.properties().name + " could not be read; its waits cannot be placed in time";
        break;
      }
      std::this_thread::yield();
    }
  }
  return warning;
}

void ClockReadings::take_more() {
  for (const DeviceMemory& memory : devices_) take(memory);
  if (now_ns() < next_request_) return;
  for (const DeviceMemory& memory : devices_) memory.device().request_clock_reading();
  interval_ = std::min(2 * interval_, kLastInterval);
  next_request_ = now_ns() + interval_;
}

bool ClockReadings::take(const DeviceMemory& memory) {
  const std::optional<ClockReading> reading = memory.device().take_clock_reading();
  if (reading) trace_.write_clock(memory.properties().id, *reading);
  return reading.has_value();
}

}  // namespace wic
