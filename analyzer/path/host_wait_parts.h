// What a host thread's wait in a call of CUDA consists of: why it lasted as long as it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/path/idle_times.h"
#include "analyzer/path/work_index.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The waits of one site, or of one call without a site, whose awaited work is known. The parts of a wait follow each
/// other, and add up to it.
struct HostWaitParts {
  SiteId site = 0;
  std::string name;  ///< of the site, or of the call
  std::uint64_t waits = 0;
  std::size_t threads = 0;   ///< that wait
  TimeNs waiting_ns = 0;     ///< the sum of the next four
  TimeNs queued_ns = 0;      ///< earlier work of the same stream, or of one that it waited for, still ran
  TimeNs launching_ns = 0;   ///< nothing was in front of the work, but it had not begun
  TimeNs running_ns = 0;     ///< the work ran
  TimeNs completing_ns = 0;  ///< the work was done, and the thread did not go on yet
  TimeNs idle_ns = 0;        ///< of that, when the work's device had nothing to do
  /// Of completing_ns, when the thread was ready to run without a CPU: at most its delay in the scheduler during the
  /// wait. Empty if no wait has that delay.
  std::optional<TimeNs> without_cpu_ns;
};

/// Of the waits within `ground`, longest waiting first. Times of work are those that CUPTI reports on the host's clock.
std::vector<HostWaitParts> host_wait_parts(const TraceModel& model, const WorkIndex& index, const IdleTimes& idle,
                                           Interval ground);

}  // namespace wicprof::analyzer
