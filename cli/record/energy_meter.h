// Records what the counters of energy show while a program runs (EnergyEvent).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cli/record/energy_sources.h"
#include "protocol/event_sink.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// A phase of one way of waiting shows a power only if it is as long: counters of GPUs move every 100 ms, and a GPU
/// takes some 0.1 s to another power. Not calibrated.
inline constexpr TimeNs kShortestEnergyPhase = 3 * kSecond;

/// On a thread of its own, every half second: reads each counter until it changes, since a counter that moves in steps
/// says when its step was, and nothing in between. `sink` must outlive the meter.
class EnergyMeter {
 public:
  EnergyMeter(std::vector<EnergySource> sources, EventSink& sink);
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

 private:
  struct Counter {
    EnergySource source;
    std::optional<std::uint64_t> last;  // as the source counts
    std::uint64_t used_uj = 0;          // since the first reading
    TimeNs read_at = 0;
  };

  void work();
  void round();
  /// Whether the counter has changed since its last reading; then its event is written.
  bool look(Counter& counter);

  EventSink& sink_;
  std::vector<Counter> counters_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
