// Whether the session's recorder still runs, as seen from the program.
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/time.h"

namespace wicprof {

/// Follows the recorder's heartbeat: a program in another pid namespace cannot see the recorder's process. Counts looks
/// instead of time, so that a program that was stopped and goes on does not take the recorder for gone. One thread.
class RecorderWatch {
 public:
  static constexpr TimeNs kInterval = 200 * kMillisecond;  ///< between two calls, at most
  static constexpr int kMissedBeats = 3;                   ///< looks in a row that found no beat

  /// False also for a recorder that was never there, and again for one that goes on after a stop.
  bool gone(const ControlBlock& control, TimeNs now) {
    const std::uint32_t beat = control.heartbeat.load(std::memory_order_relaxed);
    if (beat != beat_) {
      beat_ = beat;
      missed_ = 0;
      looked_ = now;
    } else if (beat != 0 && missed_ < kMissedBeats && now - looked_ >= kCounts) {
      ++missed_;
      looked_ = now;
    }
    return missed_ >= kMissedBeats;
  }

 private:
  static constexpr TimeNs kCounts = kInterval * 3 / 4;  // a look that comes sooner after the last one does not count
  static_assert(kCounts > kHeartbeat);

  std::uint32_t beat_ = 0;
  int missed_ = 0;
  TimeNs looked_ = 0;
};

}  // namespace wicprof
