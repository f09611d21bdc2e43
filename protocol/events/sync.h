// A synchronization as CUPTI saw it: a host thread, or a stream, that waits for a stream, an event or a context (host
// times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class SyncKind : std::uint8_t { unknown = 0, event = 1, stream_waits_for_event = 2, stream = 3, context = 4 };

struct SyncEvent {
  static constexpr EventKind kKind{19};
  EventHeader header;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t event_sync;  ///< joins with CudaEventEvent; unlike event handles never reused; 0 = none
  std::uint32_t context;
  std::uint32_t stream;  ///< kNoStream where no stream is involved
  std::uint32_t event;   ///< the event's id; 0 = none
  std::uint32_t correlation;
  std::int32_t result;  ///< of the call that synchronized; 0 = success
  SyncKind kind;
  std::uint8_t reserved[3];

  static constexpr std::uint32_t kNoStream = 0xffffffffu;
};

}  // namespace wicprof
