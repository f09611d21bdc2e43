// Where in the program the ranks of a job spend the time between their calls of MPI, or beside those of NCCL.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/ranks/rank_devices.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

enum class PlaceKind : std::uint8_t {
  range,     ///< an NVTX range of the program
  function,  ///< a Python function of the program
  kernel,
};
/// "range", "function", "kernel"
std::string_view place_kind_name(PlaceKind kind);

struct RankPlace {
  PlaceKind kind = PlaceKind::range;
  std::string name;  ///< of a range without its numbers: "step #"; of a function: "step (train.py:12)"
  auto operator<=>(const RankPlace&) const = default;
};

/// In ns. Ranges within ranges: the time counts for each of them.
using PlaceTimes = std::map<RankPlace, TimeNs>;

/// By process. Of MPI (no `devices`): the time between calls, of threads that call MPI. Of NCCL: from the first to the
/// last kernel of NCCL, without waits in calls of CUDA, of threads that call NCCL and the program's first thread; and
/// of kernels, their lengths. Ranges of libraries do not count, nor those that last until the end for more than half of
/// the time, which say nothing, or never closed.
std::map<store::ProcessId, PlaceTimes> rank_places(const TraceModel& model,
                                                   const std::map<store::ProcessId, RankDevices>* devices);

}  // namespace wicprof::analyzer
