// Maps the clock of one device to the host clock by paired readings. Pure: reads no files and no clocks.
//
//   host ^            _/ extrapolated: slope of the readings so far
//        |         _x       x = a reading, right within +-error_ns
//        |      _/
//        |    x   between two readings: the straight line through them
//        |   /
//        +--------------> device
//
// The error bound of a converted time is that of the nearest readings plus the possible drift of the two clocks since
// then. A reading with device_ns == host_ns and no error declares that the device uses the host clock: times are then
// not converted.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/time.h"

namespace wicprof::store {

struct ClockReading {
  std::uint64_t device_ns = 0;
  TimeNs host_ns = 0;
  TimeNs error_ns = 0;
};

struct HostTime {
  TimeNs ns = 0;
  TimeNs error_ns = 0;
};

class ClockConverter {
 public:
  /// Two free-running crystals differ by at most kMaxDrift (100 ppm each); the rate of one pair changes by at most
  /// kMaxWander during a trace (temperature).
  static constexpr double kMaxDrift = 200e-6;
  static constexpr double kMaxWander = 5e-6;

  /// False: the reading is refused because it is not later than the last one on both clocks, or beyond any clock. A
  /// reading that agrees with the earlier ones, but is less exact than they are, changes nothing.
  bool add(const ClockReading& reading);

  bool ready() const { return !readings_.empty(); }

  /// Requires ready(). Monotone in device_ns for a fixed set of readings.
  HostTime convert(std::uint64_t device_ns) const;

 private:
  HostTime between(const ClockReading& a, const ClockReading& b, std::uint64_t device_ns) const;
  HostTime beyond(const ClockReading& from, std::uint64_t device_ns) const;

  std::vector<ClockReading> readings_;  // ascending on both clocks
  bool is_host_clock_ = false;
  // The rate from all readings: host = device * (1 + rate_), within +-rate_error_.
  double rate_ = 0;
  double rate_error_ = kMaxDrift;
};

}  // namespace wicprof::store
