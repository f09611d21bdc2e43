// A change of how the running program waits.
#pragma once

#include "protocol/events/header.h"
#include "protocol/strategy.h"

namespace wicprof {

/// Host times. effective_ns = when the new strategy word was confirmed in the memory of every device.
struct InterventionEvent {
  static constexpr EventKind kKind{13};
  EventHeader header;
  SiteId site;  ///< 0 = the whole program
  std::uint32_t sequence;
  std::uint32_t old_strategy;
  std::uint32_t new_strategy;
  std::int64_t requested_ns;
  std::int64_t effective_ns;
  std::uint8_t old_mode;  ///< protocol/control.h: Mode
  std::uint8_t new_mode;
  WaitSide side;  ///< of a change of the whole program: what it is about; `host` also for a single place in a call
  std::uint8_t reserved[5];
};

}  // namespace wicprof
