// A store that releases waiters, and what it tells them to be ready.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// `at_ns` is read just before the store, on the clock of `device` (the host clock for kHostDevice).
struct SignalEvent {
  static constexpr EventKind kKind{7};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::uint32_t block;  ///< linear block index; of kHostDevice the thread's number
  std::uint16_t warp;
  std::uint16_t sm;
  std::uint32_t iteration;
  std::uint32_t value;  ///< that the word was given, or what stands for a bit of it (bit_value.h)
  std::uint64_t at_ns;
  WordTag word_tag;
  std::uint8_t regular;  ///< 1: the pieces are of one length and equally far apart
  std::uint8_t reserved[5];
  std::uint64_t offset;  ///< of the first byte that it announces, in the datum that the site is about
  std::uint64_t span;    ///< bytes from there to behind the last
  std::uint32_t bytes;   ///< that it announces; 0 = not known
  std::uint32_t pieces;  ///< runs of adjoining bytes that they lie in; 0 = where they lie is not known
};

}  // namespace wicprof
