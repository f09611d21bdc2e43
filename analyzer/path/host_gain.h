// What `wic-prof toggle park --side host` would gain.
#pragma once

#include <optional>

#include "analyzer/path/lateness.h"
#include "analyzer/path/slowdown.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The CPU time of waits in calls that a toggle can switch, if threads spin there; 0 otherwise.
TimeNs spun_in_calls(const TraceModel& model);

/// The speed-up of the program if its threads did not spin in calls of CUDA; nothing where they do not spin, and where
/// the trace does not show enough steps. Low to high: a thread that sleeps uses up no quota, so that
/// delays by a quota go away but for their error, and at most all of the time in which the quota stopped it; delays by
/// other threads on the same CPUs stay as a whole, or go away as a whole (value: half of them). `ground`: the traced
/// time to which the gain refers, in ns.
std::optional<Gain> host_park_gain(const TraceModel& model, const Lateness& lateness, TimeNs ground);

}  // namespace wicprof::analyzer
