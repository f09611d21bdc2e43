// A CUDA event that was recorded on a stream (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct CudaEventEvent {
  static constexpr EventKind kKind{20};
  EventHeader header;
  DeviceId device;
  std::uint32_t event;
  std::uint64_t event_sync;  ///< joins with SyncEvent; 0 = not known
  std::int64_t at_ns;        ///< when the device reached it; 0 = not known
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

}  // namespace wicprof
