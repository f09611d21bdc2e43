// The critical path: the chain of work, wake-ups and launches that the program's end waited for, back to its begin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

enum class PathKind : std::uint8_t {
  device_work,  ///< a block, or a kernel that nobody waited in, ran
  host_work,    ///< a host thread ran
  wake,         ///< from a signal until its waiter resumed
  launch,       ///< from a launching call until its kernel or copy began
  copy,
  host_return,  ///< from the end of a kernel or copy until the call that waited for it returned
};
/// "device work", "host work", "wake-up", "launch", "copy", "return to the host".
std::string_view path_kind_name(PathKind kind);

/// One stretch of the path. Stretches do not overlap, and are in order of time.
struct PathSegment {
  PathKind kind = PathKind::device_work;
  TimeNs begin = 0, end = 0;
  DeviceId device = kHostDevice;  ///< where it ran; of a wake-up, the waiter's
  SiteId site = 0;                ///< of a wake-up
  std::uint32_t place = 0;        ///< the block, or the host thread; of a kernel or copy its index in the model
  TimeNs length() const { return end - begin; }
};

/// A kind of stretch and all of them together.
struct PathShare {
  PathKind kind = PathKind::device_work;
  std::string where;  ///< device, wait site or thread, for people
  std::uint64_t count = 0;
  TimeNs total_ns = 0;
  double share = 0;  ///< of the path's length
};

struct CriticalPath {
  std::vector<PathSegment> segments;
  std::vector<PathShare> shares;   ///< most time first
  TimeNs length_ns = 0;            ///< the segments' lengths together
  std::string missing;             ///< why there is none; empty when there is
  std::vector<std::string> notes;  ///< where the path had to be guessed
};

/// Walks back from the last thing that happened. On a block or thread it goes back to its last wait whose signal came
/// after the wait began, and goes on at the signaller; from a kernel's or copy's begin to whatever came last of the
/// call that asked for it and the work before it in its stream; from a call that waited for the device to the last work
/// that ended meanwhile. So each stretch is what the next one waited for. Steps cost a binary search each.
CriticalPath critical_path(const TraceModel& model, const Matching& matching);
CriticalPath critical_path(const TraceModel& model, const Matching& matching, const DeviceWork& work);

}  // namespace wicprof::analyzer
