// Which signal released each wait (a wake edge), and how late the waiter noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct WakeEdge {
  std::uint32_t signal = 0;      ///< index into TraceModel::signals
  std::uint32_t wait : 31 = 0;   ///< index into TraceModel::waits, or host_waits
  bool host : 1 = false;         ///< the waiter is a host thread
  store::OptionalTime error_ns;  ///< 0 on one clock; nothing when a clock's error is not known
};

/// Wake latency at one site.
struct WakeStats {
  SiteId site = 0;
  std::uint64_t matched = 0;
  std::uint64_t unmatched = 0;  ///< satisfied waits for which no signal is recorded
  TimeNs p50_ns = 0, p99_ns = 0;
  std::optional<TimeNs> error_ns;  ///< the worst of the edges
};

/// How late the waiter noticed: resumed - max(signalled, arrived); below 0 only within the clocks' error.
TimeNs wake_latency(const TraceModel& model, const WakeEdge& edge);

struct Matching {
  std::vector<WakeEdge> edges;
  std::vector<WakeStats> sites;  ///< by site id; every site with a satisfied wait
};

Matching match(const TraceModel& model);

}  // namespace wicprof::analyzer
