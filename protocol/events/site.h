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

/// What the words of a site tell their waiters.
enum class SitePurpose : std::uint8_t {
  unknown = 0,
  data = 1,  ///< messages of a channel
  room = 2,  ///< that a channel's producer may go on: acknowledgements
};

/// Who releases, or waits, at a site: 0 = not known, 1 = the CPU, 2 and up = the program's devices in its own order.
/// One device may be several of them.
using SiteEnd = std::uint8_t;
inline constexpr SiteEnd kHostEnd = 1, kFirstDeviceEnd = 2;

struct SiteEvent {
  static constexpr EventKind kKind{4};
  EventHeader header;
  SiteId site;
  TextId name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint8_t words;  ///< distinct words waited on at this site: 1, or 0 for "one a waiter"
  SitePurpose purpose;
  SiteEnd releasing, waiting;
  std::uint8_t reserved[2];
};

}  // namespace wicprof
