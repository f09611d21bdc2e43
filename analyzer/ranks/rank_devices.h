// What the devices of a job's ranks did beside NCCL's kernels: whether a kernel of NCCL that waits for another rank
// keeps its own rank from anything.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

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
  /// When the next part after `time` begins; `time` itself if a part covers it, kNever if none comes. Logarithmic.
  TimeNs next(TimeNs time) const;
  /// The last part that begins before `time`; empty: there is none. Logarithmic.
  std::optional<Interval> last_before(TimeNs time) const;

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
  CoveredTime host_waits;  ///< calls of CUDA in which the host waited, or which took long; empty: not known

  /// When the last of the kernels of NCCL begins that run from `time` until the other kernels go on: it carries what
  /// those before it ended with. `time` itself: there is none.
  TimeNs transfers_end(TimeNs time) const;
  /// How much longer than usual the other kernels took that ran within [begin, end): the median run of a kernel of that
  /// name and shape is usual. A kernel of NCCL that waits holds SMs.
  TimeNs slowed_within(TimeNs begin, TimeNs end) const;

  std::vector<std::pair<Interval, TimeNs>> longer;  ///< other kernels in order, and how much longer each took
};

/// By process; empty where the trace has no kernels that carry out calls of NCCL.
std::map<store::ProcessId, RankDevices> rank_devices(const TraceModel& model);

}  // namespace wicprof::analyzer
