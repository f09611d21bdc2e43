// How host threads waited: spinning, sleeping, or taken off their CPU. And what the scheduler did with each thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

enum class WaitingWay { unknown, spinning, sleeping, mixed };
/// "spinning", ...
std::string_view waiting_way_name(WaitingWay way);

/// The waits in one call, or at one site.
struct HostWaitStats {
  SiteId site = 0;   ///< 0 for a call
  std::string name;  ///< of the call, or of the site
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  // Over the waits for which it is known; nothing where it never is.
  std::optional<TimeNs> cpu_ns, cpu_of_ns;  ///< CPU time, and the waiting time in which it was used
  std::optional<TimeNs> run_delay_ns;
  std::optional<std::uint64_t> involuntary_switches;

  /// By CPU time beside wall time: from four fifths on it spins, up to one fifth it sleeps.
  WaitingWay way() const;
};
/// Most time first.
std::vector<HostWaitStats> host_wait_stats(const TraceModel& model);

/// A thread, over all its samples.
struct ThreadStats {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string name;
  bool own = false;  ///< wic-prof's own: a thread called wicprof..., or any of the process wic-prof
  TimeNs sampled_ns = 0, cpu_ns = 0;
  std::optional<TimeNs> run_delay_ns;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
};
/// Most CPU time first.
std::vector<ThreadStats> thread_stats(const TraceModel& model);

}  // namespace wicprof::analyzer
