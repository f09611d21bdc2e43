// A kernel whose code may store to a polled word: it got a pointer to the word's allocation, and stores through it.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/site.h"

namespace wicprof {

struct WriterCandidateEvent {
  static constexpr EventKind kKind{28};
  EventHeader header;
  SiteId site;                ///< where the word is polled
  DeviceId device;            ///< of the waiters
  TextId kernel;              ///< symbol
  std::uint32_t correlation;  ///< of its first launch with that pointer
  WordTag word_tag;
  std::uint8_t exact;  ///< 1: it stores to the word's very address; 0: somewhere in the word's allocation
  std::uint8_t reserved[5];
};

}  // namespace wicprof
