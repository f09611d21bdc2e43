// The protocol by which all devices know when a level ends and when the search ends.
//
// In each level some devices are senders, and every device knows which: in the first level only the source's owner. A
// sender sends one or more chunks to every other device. The first chunk states the number of chunks, so the end of a
// level needs no extra message. It also carries
//   wakes: the devices to which the sender has sent vertices. They are senders of the next level.
//   dry:   whether the sender's frontier was empty. It stops being a sender unless another device wakes it.
// A device that is not a sender has an empty frontier, so no device waits for it. Without senders the search ends.
#pragma once

#include <cstdint>

#include "wic/platform.h"

namespace sample::bfs {

inline constexpr std::uint32_t kMaxDevices = 8;

/// A vertex reached across the border between two devices, and its parent.
struct Reached {
  std::uint32_t vertex, parent;
};

/// Header of a chunk; the vertices follow.
struct alignas(16) ChunkHead {
  std::uint32_t chunks;  ///< from this sender to this device in this level
  std::uint32_t wakes;   ///< one bit per device
  std::uint32_t dry;     ///< 0 or 1
  std::uint32_t count;   ///< vertices in this chunk
};

/// Number of chunks for `vertices` vertices; at least 1, because the first chunk carries the protocol's facts.
WIC_DEVICE constexpr std::uint32_t chunks_for(std::uint32_t vertices, std::uint32_t chunk) {
  const std::uint32_t chunks = (vertices + chunk - 1) / chunk;
  return chunks == 0 ? 1 : chunks;
}

/// The senders of the next level. `heads`: the first header from each sender of this level; other entries are ignored.
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
