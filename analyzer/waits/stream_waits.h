// Streams that wait for other streams: cudaStreamWaitEvent on one stream, for an event recorded on another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/device_work.h"

namespace wicprof::analyzer {

/// The waits of one stream for events recorded after one kernel (or copy) of another stream.
struct StreamWaits {
  StreamKey waiter, signaller;
  DeviceId device = 0;  ///< the signaller's
  std::string behind;   ///< the work before the event on its stream; empty: none
  std::uint64_t count = 0;
  std::uint64_t timed = 0;  ///< waits whose idle time is known
  /// The time that the waiting stream lost: its next work was requested, its previous work had ended, and the event was
  /// not reached yet.
  TimeNs idle_ns = 0;
  TimeNs idle_p50_ns = 0, idle_max_ns = 0;  ///< per delayed kernel or copy
};

struct StreamWaitTable {
  std::vector<StreamWaits> rows;    ///< most idle time first
  std::uint64_t without_event = 0;  ///< waits whose event's recording is not in the trace
};

/// Ignores waits for an event of the same stream, which never wait. If CUPTI does not report when the device reached an
/// event, uses the end of the work before the event.
StreamWaitTable stream_waits(const TraceModel& model);
StreamWaitTable stream_waits(const TraceModel& model, const CallIndex& calls, const DeviceWork& device_work);

}  // namespace wicprof::analyzer
