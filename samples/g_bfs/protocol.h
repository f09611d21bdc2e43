// What the devices of a search tell each other, so that all know when a level is over and when the search is.
//
// Each level some devices are senders, and all know which: at first the source's owner alone. A sender sends every
// other device one chunk or more; the first says how many there are, so the level needs no message of its own for its
// end. It also says
//   wakes: to which devices the sender has sent vertices. Those are senders of the next level.
//   dry:   that nothing was left for the sender to search from. It is no sender any more, unless somebody wakes it.
// A device that is no sender has nothing to search from, so nobody waits for it. Without senders the search is over.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample::bfs {

inline constexpr std::uint32_t kMostDevices = 8;

/// A vertex that was reached across a device's border, and from where.
struct Reached {
  std::uint32_t vertex, parent;
};

/// In front of a chunk's vertices.
struct alignas(16) ChunkHead {
  std::uint32_t chunks;  ///< of this sender to this device in this level
  std::uint32_t wakes;   ///< a bit a device
  std::uint32_t dry;     ///< 0 or 1
  std::uint32_t count;   ///< vertices in this chunk
};

/// How many chunks carry that many vertices: at least the one that tells of the level.
WIC_DEVICE constexpr std::uint32_t chunks_for(std::uint32_t vertices, std::uint32_t chunk) {
  const std::uint32_t chunks = (vertices + chunk - 1) / chunk;
  return chunks == 0 ? 1 : chunks;
}

/// The senders of the next level. `heads`: what each sender of this one said; others' are not looked at.
WIC_DEVICE constexpr std::uint32_t next_senders(std::uint32_t senders, const ChunkHead* heads, std::uint32_t devices) {
  std::uint32_t going_on = senders, woken = 0;
  for (std::uint32_t d = 0; d < devices; ++d) {
    if ((senders >> d & 1) == 0) continue;
    if (heads[d].dry != 0) going_on &= ~(1u << d);
    woken |= heads[d].wakes;
  }
  return going_on | woken;
}

}  // namespace sample::bfs
