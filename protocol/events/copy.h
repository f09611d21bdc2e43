// A copy or a memset on the GPU, as CUPTI saw it (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class CopyKind : std::uint8_t {
  unknown = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  peer_to_peer = 4,
  host_to_host = 5,
  memset = 6,
};

enum class CopyMemory : std::uint8_t {
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  array = 4,
  managed = 5,
};

struct CopyEvent {
  static constexpr EventKind kKind{10};
  EventHeader header;
  DeviceId device;
  DeviceId peer_device;  ///< destination of a peer copy, else the same as device
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  CopyKind kind;
  CopyMemory source;
  CopyMemory destination;
  std::uint8_t asynchronous;
  std::uint32_t graph;  ///< 0 = not part of a graph
  std::uint64_t graph_node;
};

}  // namespace wicprof
