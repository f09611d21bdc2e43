// Finds the signal that released each wait (the wake edge) and the wake latency: the last signal at the wait's site, no
// later than its end, with the word and value that it wanted; failing that, with the value that it saw, or with its
// iteration number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/trace/wait_view.h"

namespace wicprof::analyzer {

struct WakeEdge {
  std::uint32_t signal = 0;     ///< index into TraceModel::signals
  std::uint32_t wait : 31 = 0;  ///< index into TraceModel::waits, or host_waits
  bool host : 1 = false;        ///< the waiter is a host thread, and `wait` an index into host_waits
};

/// The wait that the edge ends.
[[gnu::always_inline]] inline WaitView view_of(const TraceModel& model, const WakeEdge& edge) {
  return edge.host ? view_of(model.host_waits[edge.wait], edge.wait) : view_of(model.waits[edge.wait], edge.wait);
}

/// Error bounds of the devices' clocks; the host's clock is the reference.
class ClockErrors {
 public:
  explicit ClockErrors(const TraceModel& model);
  /// Between the clocks of two devices: 0 on one clock, empty if a clock's error is unknown.
  std::optional<TimeNs> between(DeviceId a, DeviceId b) const;
  /// By clock error alone, a signal may appear this much later than the resumption that it caused.
  TimeNs slack() const { return 2 * worst_; }

 private:
  std::map<DeviceId, std::optional<TimeNs>> errors_;
  TimeNs worst_ = 0;
};

/// Wake latencies at one site.
struct WakeStats {
  SiteId site = 0;
  std::uint64_t matched = 0;
  std::uint64_t unmatched = 0;  ///< satisfied waits without a recorded signal
  TimeNs p50_ns = 0, p99_ns = 0;
  std::optional<TimeNs> error_ns;  ///< the largest error of the edges; empty if any is unknown
};

/// resumed - max(signalled, arrived); negative only within the clocks' error.
TimeNs wake_latency(const TraceModel& model, const WakeEdge& edge);
inline TimeNs wake_latency(const store::SignalRow& signal, const WaitView& wait) {
  return wait.end - std::max(signal.at, wait.begin);
}

struct Matching {
  std::vector<WakeEdge> edges;
  std::vector<WakeStats> sites;  ///< by site id; every site with a satisfied wait
};

Matching match(const TraceModel& model);

}  // namespace wicprof::analyzer
