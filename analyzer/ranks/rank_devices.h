// What the devices of a job's ranks did beside NCCL's kernels: whether a kernel of NCCL that waits for another rank
// keeps its own rank from anything.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The union of intervals.
class CoveredTime {
 public:
  CoveredTime() = default;
  explicit CoveredTime(std::vector<Interval> intervals);

  bool empty() const { return parts_.empty(); }
  TimeNs begin() const { return parts_.front().begin; }  ///< of one that is not empty
  TimeNs end() const { return parts_.back().end; }
  /// The covered part of [begin, end), in ns. Logarithmic.
  TimeNs covered(TimeNs begin, TimeNs end) const { return before(end) - before(begin); }

 private:
  TimeNs before(TimeNs time) const;

  std::vector<Interval> parts_;    // in order, without overlaps
  std::vector<TimeNs> length_to_;  // of the parts before each
};

/// Of one rank.
struct RankDevices {
  CoveredTime nccl;     ///< kernels that carry out calls of NCCL
  CoveredTime kernels;  ///< other kernels
  CoveredTime work;     ///< other kernels, and copies
  CoveredTime all;
};

/// By process; empty where the trace has no kernels that carry out calls of NCCL.
std::map<store::ProcessId, RankDevices> rank_devices(const TraceModel& model);

}  // namespace wicprof::analyzer
