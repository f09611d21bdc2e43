// What lies in a device's memory for the backend: strategy words, sites, watch slots, record rings.
//
// Every word that waiting warps read lies in device memory on a 128-byte line of its own: shared words in host memory
// are the worst case known (9.5x on a streaming neighbour, measured on an H200).
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/events/header.h"

namespace wic {

inline constexpr std::uint32_t kMaxSites = wicprof::kMaxSites;
inline constexpr std::uint32_t kWatchSlots = 256;

/// How a site waits now. The low 8 bits are a StrategyId, the rest counts changes, so that any change shows.
struct alignas(128) StrategyWord {
  std::uint32_t word;
};
static_assert(sizeof(StrategyWord) == 128);

/// What waits at a site have taught: written by waiters as they leave, racing stores being harmless.
struct alignas(128) SiteMemory {
  std::uint32_t predicted_ns;  ///< moving average of the wait's length; 0 = nothing known
};

/// One watched word (strategies/shared_watch.h).
struct alignas(128) WatchSlot {
  std::uint64_t word_address;  ///< 0 = free; set once, never taken back
  alignas(128) std::uint64_t mirror;
};

/// One record as it travels: four quads of three payload words and a tag. A slot is whole when all four tags are the
/// generation expected there, so the writer needs no fence and the reader notices a slot that is being overwritten.
struct alignas(64) DeviceRecord {
  struct alignas(16) Quad {
    std::uint32_t payload[3];
    std::uint32_t tag;
  };
  Quad quads[4];
};
static_assert(sizeof(DeviceRecord) == 64);

/// Next sequence number of one SM's record ring; in device memory, so that claiming a slot stays local.
struct alignas(128) RingHead {
  std::uint32_t next;
};

/// What the host wants of the strategy words, in pinned host memory: see steward.h. Each word counts its own changes, so
/// reading the words in any order tells what is new.
struct ControlPage {
  alignas(128) std::uint32_t sequence;  ///< raised after every change of `words`
  std::uint32_t site_count;
  std::uint32_t words[kMaxSites];       ///< of sites 1, 2, ...: right behind, so that one read fetches the first two
  alignas(128) std::uint32_t applied;   ///< the last sequence that a steward has brought to the device
};

/// Which waiting thread of the device looks at the control page; in device memory.
struct alignas(128) StewardLine {
  std::uint64_t lease_until_ns;  ///< device time; after it anyone may take over
};

/// Given to kernels by value. Pointers are device pointers; `records` is host memory that the device writes to.
struct DeviceView {
  StrategyWord* strategies = nullptr;
  SiteMemory* sites = nullptr;
  WatchSlot* watch = nullptr;
  StewardLine* steward = nullptr;
  ControlPage* control = nullptr;  ///< nullptr: nobody looks, the host alone writes the strategy words
  RingHead* ring_heads = nullptr;
  DeviceRecord* records = nullptr;    ///< sm_count rings of ring_capacity records each; nullptr = do not record
  std::uint32_t ring_capacity = 0;    ///< a power of two
  std::uint32_t record_sample_mask = 0;  ///< 0 = record everything; else a sample of the waits: see record.h
  std::uint32_t sm_count = 0;
  wicprof::DeviceId device = 0;
};

}  // namespace wic
