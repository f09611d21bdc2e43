// A store that releases waiters, and the data that it announces.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// What stored the value.
enum class SignalWriter : std::uint8_t {
  program = 0,       ///< the program itself, at a site that it declares
  copy = 1,          ///< a copy whose destination holds the word, and whose value is known
  memset = 2,        ///< a memset whose range holds the word
  stream_write = 3,  ///< cuStreamWriteValue
  unknown_copy = 4,  ///< a copy whose value is not known
};

/// `at_ns` is read just before the store, on the clock of `device` (the host clock for kHostDevice). Of a
/// copy or a memset it is when the device began it, of a stream's write, and where that is not known, when it was
/// called.
struct SignalEvent {
  static constexpr EventKind kKind{7};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::uint32_t block;  ///< linear block index; of kHostDevice the thread's number
  std::uint16_t warp;
  std::uint16_t sm;
  std::uint32_t iteration;
  std::uint32_t value;  ///< value stored, or the code of one bit of the word (bit_value.h); not of an unknown_copy
  std::uint64_t at_ns;
  WordTag word_tag;
  std::uint8_t regular;  ///< 1: the pieces have one length and one distance
  SignalWriter writer;
  std::uint32_t correlation;  ///< of the call that made a copy, a memset or a stream's write; 0 = none
  std::uint64_t offset;       ///< of the first announced byte, in the site's data
  std::uint64_t span;         ///< bytes from there to the end of the last piece
  std::uint32_t bytes;        ///< size of the announced data; 0 = not known
  std::uint32_t pieces;       ///< contiguous runs that hold the data; 0 = the location is not known
};

}  // namespace wicprof
