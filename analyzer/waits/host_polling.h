// Host threads that poll whether the GPU is done: runs of cudaEventQuery, cudaStreamQuery and the driver's equivalents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Queries of one thread, at most `kPollingGap` apart and without other calls in between. At least `kPollingQueries` of
/// them returned "not ready".
struct PollingRun {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string call;  ///< the most frequent query
  std::uint64_t queries = 0, not_ready = 0;
  TimeNs begin = 0, end = 0;
  bool ended_ready = false;  ///< the last query returned "ready"
  /// From ThreadTime::cpu_between(); empty if the thread's samples do not cover the run.
  std::optional<TimeNs> cpu_ns;
};

// Not calibrated.
inline constexpr TimeNs kPollingGap = 100'000;
inline constexpr std::uint64_t kPollingQueries = 3;

/// All polling runs of one thread with one call.
struct HostPolling {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string call;
  std::uint64_t runs = 0, queries = 0, not_ready = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  double queries_per_second = 0;  ///< while it polls
  std::optional<TimeNs> cpu_ns;
};

/// Whether the call queries completion without waiting ("cudaEventQuery", "cuStreamQuery_ptsz").
bool is_query(std::string_view call);

/// In order of begin.
std::vector<PollingRun> polling_runs(const TraceModel& model);
/// Longest total time first.
std::vector<HostPolling> host_polling(const TraceModel& model);

}  // namespace wicprof::analyzer
