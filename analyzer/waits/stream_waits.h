// Streams that wait for streams: cudaStreamWaitEvent on one, for an event recorded on another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/device_work.h"

namespace wicprof::analyzer {

/// The waits of one stream for events behind one kernel (or copy) of another.
struct StreamWaits {
  StreamKey waiter, signaller;
  DeviceId device = 0;  ///< the signaller's
  std::string behind;   ///< what the event was recorded behind; empty = nothing was on that stream before
  std::uint64_t count = 0;
  std::uint64_t timed = 0;  ///< of these, those whose idle time is known
  TimeNs idle_ns = 0;       ///< the waiting stream had work, was done with what came before, and the event had not come
  TimeNs idle_p50_ns = 0, idle_max_ns = 0;  ///< of the works that had to wait
};

struct StreamWaitTable {
  std::vector<StreamWaits> rows;    ///< most idle time first
  std::uint64_t without_event = 0;  ///< waits whose event's recording is not in the trace
};

/// Waits for an event of the same stream are left out: they wait for nothing. Where CUPTI has not said when the device
/// reached the event, that is when what it was recorded behind ended.
StreamWaitTable stream_waits(const TraceModel& model);
StreamWaitTable stream_waits(const TraceModel& model, const DeviceWork& device_work);

}  // namespace wicprof::analyzer
