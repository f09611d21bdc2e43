// The trace in Chrome's trace event format, which Perfetto's viewer (ui.perfetto.dev) opens.
#pragma once

#include <string>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// One JSON document: a process a device (a track a stream, tracks an SM) and one a traced process (a track a host
/// thread); waits, signals, kernels, copies, calls and NVTX ranges as slices, wake edges as flow arrows, interventions
/// as marks across all tracks. Microseconds from the begin of the trace. Some 200 bytes an event.
std::string report_perfetto(const TraceModel& model);

}  // namespace wicprof::analyzer
