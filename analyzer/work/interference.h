// How much polling slows other work: compares the same work beside many pollers and beside few, within one trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/step_count.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/wait_kernels.h"

namespace wicprof::analyzer {

struct InterferenceOptions {
  // The values are not calibrated.
  /// Work with fewer spans than this on either side is not compared.
  std::size_t min_spans = 10;
  /// Compares spans beside at least `many_from` of the largest number of pollers with spans beside at most `few_upto`
  /// of that number.
  double many_from = 0.75, few_upto = 0.25;
  /// Work that never runs beside this many pollers is not compared.
  double min_pollers = 2;
};

/// One kind of work: all its spans begin and end with the same sort of event.
struct SlowedWork {
  DeviceId device = 0;
  std::string what;  ///< "from a wait at a to the next at b", "kernel name", for people
  std::size_t many_spans = 0, few_spans = 0;
  double many_pollers = 0, few_pollers = 0;  ///< simultaneous pollers on the device, mean over the spans
  TimeNs many_p50_ns = 0, few_p50_ns = 0;
  /// many_p50 / few_p50 with its 95 % bootstrap interval: how many times as long the work took beside many pollers.
  Speedup slowdown;
  /// True: the spans beside many pollers ran in mode poll and those beside few in mode park, so the toggle caused the
  /// difference. False: the trace has one mode only, and cause and effect may be swapped: work that is slow for another
  /// reason makes others wait, and poll, for longer.
  bool by_toggle = false;
};

struct Interference {
  std::vector<SlowedWork> works;  ///< most slowed first; includes work that was not slowed
  std::string missing;            ///< why no work could be compared; empty if `works` is not
};

/// How many waits on a device poll their word without pause, over time.
StepCount pollers_on(const TraceModel& model, DeviceId device);

/// Work is what a waiter does between two of its waits in one kernel, what a block does from its kernel's start (or its
/// last wait or signal) to a signal, and a whole kernel in which nobody waits. Without recorded kernels, a span between
/// two waits may include a launch. Each span counts with the mean number of pollers on its device while it ran; a
/// waiter does not poll while it works, so these are other waiters. Linear time, plus one binary search per span.
Interference interference(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels,
                          const Modes& modes, const InterferenceOptions& options = {});

}  // namespace wicprof::analyzer
