// A place in the program where something waits.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class WordMemory : std::uint8_t { unknown = 0, device = 1, pinned_host = 2, peer_device = 3, managed = 4 };

/// Which threads poll when the program waits in its own way.
enum class Pollers : std::uint8_t {
  leader = 0,       ///< one thread of the group polls, the rest stand at a barrier (Algorithm 1 of the WIC paper)
  each_thread = 1,  ///< every thread of the group polls for itself
};

struct SiteEvent {
  static constexpr EventKind kKind = EventKind::site;
  EventHeader header;
  SiteId site;
  TextId name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint8_t words;  ///< distinct words waited on at this site: 1, or 0 for "one a waiter"
  std::uint8_t reserved[5];
};

}  // namespace wicprof
