// What a program gains where its host threads sleep in waits through wic in place of polling: the CPUs that others
// lack.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/path/slowdown.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct HostRoom {
  Gain gain;           ///< of the program's speed
  double lacking = 0;  ///< share of the time in which a thread of the program wanted a CPU and had none, at most
};

/// The gain if all host threads that poll at the program's sites in `times` slept there; nothing where they take too
/// little CPU time to matter, and where the trace holds no samples of threads. Whether a delay of a thread delays the
/// program, and whether the pollers caused the delay, the trace does not show. So the gain lies between a late
/// wake-up's cost and that of a program in which nobody lacks a CPU; value: where next to nobody does, 1, else the
/// middle. `times`: in order of time, without overlaps.
std::optional<HostRoom> host_room(const TraceModel& model, const std::vector<Interval>& times);

}  // namespace wicprof::analyzer
