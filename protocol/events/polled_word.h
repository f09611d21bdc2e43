// A word that a patched loop polls, when the first wait for it has been seen; and a patched loop whose code does not
// show its word, when it is loaded.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/site.h"
#include "protocol/wanted_value.h"

namespace wicprof {

struct PolledWordEvent {
  static constexpr EventKind kKind{27};
  EventHeader header;
  SiteId site;
  DeviceId device;
  std::uint64_t address;  ///< as the device sees it; 0: the code does not show it
  std::uint64_t wanted;   ///< with `relation`
  std::uint64_t mask;     ///< the bits of the word that count
  WordTag word_tag;
  WordMemory memory;
  WantedRelation relation;  ///< unknown: the code names no value
  std::uint8_t reserved[4];
};

}  // namespace wicprof
