// How host threads waited (spinning, sleeping, or descheduled), and each thread's scheduling statistics.
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
/// By CPU time over waiting time, near 1 for a thread that spins and near 0 for one that sleeps: from 0.8 on it spins,
/// which tolerates a machine with more threads than cores; up to 0.2 it sleeps. Not calibrated;
/// tests/analyzer/activity_test.cpp has examples.
WaitingWay waiting_way(TimeNs cpu, TimeNs waiting);

/// The waits at one wait site, or in one CUDA call without a site.
struct HostWaitStats {
  SiteId site = 0;    ///< of a call: the place in the program that makes it; 0 = not known
  std::string name;   ///< of the site, or of the call without one
  std::string call;   ///< empty at a site that the program declares
  std::string place;  ///< of the call: "FILE:LINE", "MODULE+0xOFFSET" or "NVTX range"; empty: not known
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  // Sums over the waits with a known value; empty if no wait has one.
  std::optional<TimeNs> cpu_ns, cpu_of_ns;  ///< CPU time, and the waiting time of the same waits
  std::optional<TimeNs> run_delay_ns;
  std::optional<std::uint64_t> involuntary_switches;

  WaitingWay way() const { return waiting_way(cpu_ns.value_or(0), cpu_ns ? cpu_of_ns.value_or(0) : 0); }
};
/// Longest total time first.
std::vector<HostWaitStats> host_wait_stats(const TraceModel& model);

/// The sum of a thread's samples.
struct ThreadStats {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string name;
  bool own = false;  ///< belongs to wic-prof: a thread called wicprof..., or any thread of the process wic-prof
  TimeNs sampled_ns = 0, cpu_ns = 0;
  std::optional<TimeNs> run_delay_ns;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
};
/// Most CPU time first.
std::vector<ThreadStats> thread_stats(const TraceModel& model);

}  // namespace wicprof::analyzer
