// Who was slowed by polling and by how much: the same work beside many pollers and beside few, within one trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/compare/compare.h"
#include "analyzer/measure/step_count.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

struct InterferenceOptions {
  /// A side with fewer spans than this says nothing.
  std::size_t min_spans = 10;
  /// Spans beside at least `many_from` of the most pollers are compared with those beside at most `few_upto` of them.
  double many_from = 0.75, few_upto = 0.25;
  /// Differences below this many pollers are none.
  double min_pollers = 2;
};

/// One kind of work: what begins and ends it is the same in all its spans.
struct SlowedWork {
  DeviceId device = 0;
  std::string what;  ///< "from a wait at a to the next at b", "kernel name", for people
  std::size_t many_spans = 0, few_spans = 0;
  double many_pollers = 0, few_pollers = 0;  ///< means over the spans, of pollers at a time beside them
  TimeNs many_p50_ns = 0, few_p50_ns = 0;
  /// many_p50 / few_p50 with its 95 % bootstrap interval: how many times as long the work took beside the pollers.
  Speedup slowdown;
  /// The many are from times of polling and the few from times of parking, so the toggle is what told them apart. Where
  /// a trace has one mode only, they differ by themselves: then work that takes long for another reason also makes
  /// others wait for it, and the pollers may be the effect.
  bool by_toggle = false;
};

struct Interference {
  std::vector<SlowedWork> works;  ///< most slowed first; what was not slowed is among them
  std::string missing;            ///< why nothing could be compared; empty when something could
};

/// Waits that look at their word all the time, on one device.
StepCount pollers_on(const TraceModel& model, DeviceId device);

/// Work is what a waiter does between two of its waits in one kernel, what a block does from its kernel's begin (or its
/// last wait or signal) to a signal, and a kernel in which nobody waits. (Without recorded kernels, launches lie in
/// between.) Each span is taken with the mean number of pollers on its device while it ran; a waiter does not poll
/// while it works, so the pollers are others. Linear but for a binary search a span.
Interference interference(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels,
                          const Modes& modes, const InterferenceOptions& options = {});

}  // namespace wicprof::analyzer
