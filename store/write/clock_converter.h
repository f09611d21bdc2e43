// Maps the clock of one device to the host clock, by the readings that were taken of both. Pure: no files, no time.
//
//   host ^            _/ extrapolated: slope of the readings so far
//        |         _x       x = a reading, right within +-error_ns
//        |      _/
//        |    x   between two readings: the straight line through them
//        |   /
//        +--------------> device
//
// The error bound of a converted time is that of the readings around it, plus what the two clocks can drift apart on
// the way to it. A reading that says device_ns == host_ns without any error declares that the device is on the host
// clock: times are then taken as they are.
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
  /// Two free-running crystals differ by no more than this share (100 ppm each), and one running pair's rate changes by
  /// no more than this share while a trace lasts (temperature).
  static constexpr double kMaxDrift = 200e-6;
  static constexpr double kMaxWander = 5e-6;

  /// False when the reading was refused: not after the last one on either clock. One that agrees with what the earlier
  /// ones tell, but is less exact than that, changes nothing.
  bool add(const ClockReading& reading);

  bool ready() const { return !readings_.empty(); }
  bool is_host_clock() const { return is_host_clock_; }

  /// Requires ready(). For given readings monotone in device_ns.
  HostTime convert(std::uint64_t device_ns) const;

 private:
  HostTime between(const ClockReading& a, const ClockReading& b, std::uint64_t device_ns) const;
  HostTime beyond(const ClockReading& from, std::uint64_t device_ns) const;

  std::vector<ClockReading> readings_;  // ascending on both clocks
  bool is_host_clock_ = false;
  // What the readings as a whole say about the rate: host = device * (1 + rate_), right within +-rate_error_.
  double rate_ = 0;
  double rate_error_ = kMaxDrift;
};

}  // namespace wicprof::store
