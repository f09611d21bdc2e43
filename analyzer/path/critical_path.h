// The critical path: the chain of work, wake-ups and launches from the program's begin that its end waited for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/path/work_index.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

enum class PathKind : std::uint8_t {
  device_work,  ///< a block ran, or a kernel without waits
  host_work,    ///< a host thread ran
  wake,         ///< from a signal until its waiter resumed
  launch,       ///< from a launching call until its kernel or copy starts
  copy,
  host_return,  ///< from the end of a kernel or copy until the call that waits for it returns
};
/// "device work", "host work", "wake-up", "launch", "copy", "return to the host".
std::string_view path_kind_name(PathKind kind);

/// One segment of the path. Segments do not overlap, and are in order of time.
struct PathSegment {
  TimeNs begin = 0, end = 0;
  DeviceId device = kHostDevice;  ///< for a wake-up, the waiter's
  SiteId site = 0;                ///< for a wake-up
  std::uint32_t place = 0;        ///< the block or the host thread; 0 for kernels and copies
  PathKind kind = PathKind::device_work;
  TimeNs length() const { return end - begin; }
};

/// All segments of one kind and place.
struct PathShare {
  PathKind kind = PathKind::device_work;
  std::string where;  ///< device, wait site or thread, for people
  std::uint64_t count = 0;
  TimeNs total_ns = 0;
  double share = 0;  ///< of the path's length within the ground
};

struct CriticalPath {
  std::vector<PathSegment> segments;
  std::vector<PathShare> shares;   ///< most time first
  TimeNs length_ns = 0;            ///< sum over the segments' parts within the ground
  std::string missing;             ///< why there is no path; empty if there is one
  std::vector<std::string> notes;  ///< where the path is a guess
};

/// Walks back from the last event, so that each segment is what the next one waited for:
///   - on a block or thread, to its last wait whose signal came after the wait began, and on to the signaller;
///   - from the begin of a kernel or copy, to the later of its launching call and the previous work in its stream;
///   - from a call that waits for the device, to the last work that ended during the call.
/// Each step takes a binary search.
/// The shares and the length are those of the parts within `ground`.
CriticalPath critical_path(const TraceModel& model, const Matching& matching);
CriticalPath critical_path(const TraceModel& model, const Matching& matching, const DeviceWork& work,
                           const WorkIndex& index, Interval ground);

}  // namespace wicprof::analyzer
