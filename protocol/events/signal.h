// A store that releases waiters.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// `at_ns` is read just before the store, on the clock of `device` (the host clock for kHostDevice).
struct SignalEvent {
  static constexpr EventKind kKind = EventKind::signal;
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::uint32_t block;
  std::uint16_t warp;
  std::uint16_t sm;
  std::uint32_t iteration;
  std::uint32_t value;
  std::uint64_t at_ns;
  WordTag word_tag;
  std::uint8_t reserved[6];
};

}  // namespace wicprof
