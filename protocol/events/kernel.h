// A kernel on the GPU, as CUPTI saw it (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct KernelEvent {
  static constexpr EventKind kKind{9};
  EventHeader header;
  DeviceId device;
  TextId name;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t registers_per_thread;
  std::uint32_t static_shared_bytes;
  std::uint32_t dynamic_shared_bytes;
  std::uint32_t shared_executed_bytes;  ///< shared memory that its SMs were configured with; 0 = not known
  std::uint32_t local_bytes_per_thread;
  std::uint32_t cluster[3];  ///< 0 = no clusters
  std::uint32_t graph;       ///< 0 = not part of a graph
  std::uint64_t graph_node;
};

}  // namespace wicprof
