// The CPU time of threads within intervals, from samples of the scheduler's counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Points into the model, which must outlive it. A sample counts in proportion to its overlap with the interval.
class ThreadTime {
 public:
  explicit ThreadTime(const TraceModel& model);

  /// Empty if samples cover less than half of the interval. Idle threads have no samples, so ask only for intervals in
  /// which the thread is known to have run.
  std::optional<TimeNs> cpu_between(store::ProcessId process, std::uint32_t thread, TimeNs begin, TimeNs end) const;

 private:
  std::map<std::pair<store::ProcessId, std::uint32_t>, std::vector<const store::ThreadSampleRow*>> samples_;
};

}  // namespace wicprof::analyzer
