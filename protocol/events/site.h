// A place in the program where something waits.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class WordMemory : std::uint8_t { unknown = 0, device = 1, pinned_host = 2, peer_device = 3, managed = 4 };

/// Which threads poll when the program's own code waits.
enum class Pollers : std::uint8_t {
  leader = 0,       ///< one thread of the group polls, the rest stand at a barrier (Algorithm 1 of the WIC paper)
  each_thread = 1,  ///< every thread of the group polls for itself
};

/// What the words of a site announce.
enum class SitePurpose : std::uint8_t {
  unknown = 0,
  data = 1,             ///< messages of a channel
  acknowledgement = 2,  ///< that a channel's producer may continue
};

/// What waits at a site.
enum class SiteSide : std::uint8_t {
  unknown = 0,  ///< as the program declares the site: warps, host threads, or both
  host = 1,     ///< host threads, in a call of CUDA
};

/// Who releases or waits at a site: 0 = not known, 1 = the CPU, 2 and up = the program's devices in the program's
/// order, where one device may appear several times.
using SiteEnd = std::uint8_t;
inline constexpr SiteEnd kHostEnd = 1, kFirstDeviceEnd = 2;

struct SiteEvent {
  static constexpr EventKind kKind{4};
  EventHeader header;
  SiteId site;
  TextId name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint8_t words;  ///< distinct words waited on at this site: 1, or 0 for one per waiter
  SitePurpose purpose;
  SiteEnd releasing, waiting;
  SiteSide side;
  std::uint8_t reserved;
  TextId place;  ///< of a call: "FILE:LINE", else "MODULE+0xOFFSET", or "NVTX range"; 0 = not known
  std::uint32_t reserved2;
};

}  // namespace wicprof
