// The CPU time of threads within stretches of time, from the samples that the scheduler gave.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Points into the model, which must outlive it. A sample counts in proportion to its overlap with the stretch.
class ThreadTime {
 public:
  explicit ThreadTime(const TraceModel& model);

  /// Nothing where samples cover less than half of the stretch. (A thread that did nothing has no samples, so for
  /// stretches in which it is known to have done something.)
  std::optional<TimeNs> cpu_between(store::ProcessId process, std::uint32_t thread, TimeNs begin, TimeNs end) const;

 private:
  std::map<std::pair<store::ProcessId, std::uint32_t>, std::vector<const store::ThreadSampleRow*>> samples_;
};

}  // namespace wicprof::analyzer
