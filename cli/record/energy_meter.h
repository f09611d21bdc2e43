// Records what the counters of energy show while a program runs (EnergyEvent), and what NVML says of its GPUs
// (DeviceStateEvent).
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "cli/record/energy_sources.h"
#include "protocol/event_sink.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// A phase of one way of waiting shows a power only if it is as long: counters of GPUs move every 100 ms, and a GPU
/// takes some 0.1 s to another power. Not calibrated.
inline constexpr TimeNs kShortestEnergyPhase = 3 * kSecond;

/// On a thread of its own, every half second: reads each counter until it changes, since a counter that moves in steps
/// says when its step was, and nothing in between. Half as often, the state of each GPU. `sink` must outlive the meter.
class EnergyMeter {
 public:
  EnergyMeter(EnergySources sources, EventSink& sink);
  /// Waits for a source that does not answer, such as a driver that hangs, no longer than this. The thread stays behind
  /// then, and writes nothing any more.
  static constexpr std::chrono::milliseconds kLongestEnd{2000};
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

 private:
  class Readings;
  std::shared_ptr<Readings> readings_;  // the thread's, too
};

}  // namespace wicprof::cli
