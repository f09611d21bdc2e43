// One launch of a CUDA graph, as a whole (host times). Its kernels and copies carry the graph's id where they are
// recorded.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct GraphEvent {
  static constexpr EventKind kKind{21};
  EventHeader header;
  DeviceId device;
  std::uint32_t graph;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t reserved;
};

}  // namespace wicprof
