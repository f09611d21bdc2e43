// Time that CUPTI and the driver spent on profiling, on the thread that spent it (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct OverheadEvent {
  static constexpr EventKind kKind{22};
  EventHeader header;
  TextId what;
  std::uint32_t thread;  ///< 0 = not a thread's
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t correlation;  ///< of the call that caused it; 0 = none
  std::uint32_t reserved;
};

}  // namespace wicprof
