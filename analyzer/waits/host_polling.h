// Host threads that ask again and again whether the GPU is done: runs of cudaEventQuery, cudaStreamQuery and the
// driver's two.
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

/// Queries of one thread with at most `kPollingGap` between two of them and no other call in between, of which at least
/// `kPollingQueries` were told "not ready".
struct PollingRun {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string call;  ///< the one that was made most
  std::uint64_t queries = 0, not_ready = 0;
  TimeNs begin = 0, end = 0;
  bool ended_ready = false;  ///< the last query was told "ready"
  std::optional<TimeNs>
      cpu_ns;  ///< by the samples of the thread, in proportion; nothing where these do not cover the run
};

inline constexpr TimeNs kPollingGap = 100'000;
inline constexpr std::uint64_t kPollingQueries = 3;

/// The runs of one thread with one call.
struct HostPolling {
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  std::string call;
  std::uint64_t runs = 0, queries = 0, not_ready = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  double queries_per_second = 0;  ///< while it polls
  std::optional<TimeNs> cpu_ns;
};

/// Whether the name is that of a call that asks without waiting ("cudaEventQuery", "cuStreamQuery_ptsz").
bool is_query(std::string_view call);

/// In order of time.
std::vector<PollingRun> polling_runs(const TraceModel& model);
/// Most time first.
std::vector<HostPolling> host_polling(const TraceModel& model);

}  // namespace wicprof::analyzer
