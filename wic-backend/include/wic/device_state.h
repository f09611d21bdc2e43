// What lies in a device's memory for the backend: strategy words, sites, watch slots, record rings.
//
// Every word that waiting warps read lies in device memory on a 128-byte line of its own: shared words in host memory
// are the worst case known (a streaming neighbour took over 100 times as long on an H200: docs/results, hot_flag).
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/events/header.h"
#include "wic/thread.h"

namespace wic {

inline constexpr std::uint32_t kMaxSites = wicprof::kMaxSites;
inline constexpr std::uint32_t kMaxWatchLines = 32;

/// In place of a strategy's number in a strategy word: the site's producer is gone, and waiting is over.
inline constexpr std::uint8_t kProducerLost = 254;

/// How a site waits now. The low 8 bits are a StrategyId or kProducerLost, the rest counts changes, so that any change
/// shows.
struct alignas(128) StrategyWord {
  std::uint32_t word;
};
static_assert(sizeof(StrategyWord) == 128);

/// How long waits at a site last: moving averages of the length and of its distance from that average.
struct WaitLength {
  std::uint32_t mean_ns;
  std::uint32_t deviation_ns;
};

/// What waits at a site have taught: written by waiters as they leave, racing stores of one moment being alike.
struct alignas(128) SiteMemory {
  std::uint32_t
      quad[4];  ///< a WaitLength (mean 0 = nothing known), and when it was learnt: device time, low word first

  WIC_DEVICE WaitLength usual(const Thread& thread) const {
    std::uint32_t now[4];
    thread.load_quad(quad, now);
    return {now[0], now[1]};
  }
};

/// One watched word; what the fields hold: strategies/shared_watch.h.
struct alignas(128) WatchSlot {
  struct alignas(128) Line {
    std::uint64_t mirror;
  };
  std::uint64_t key;
  std::uint32_t arrivals;
  alignas(128) std::uint64_t master;
  Line lines[kMaxWatchLines];
};

/// The words that a device's waiters watch together.
struct WatchTable {
  WatchSlot* slots = nullptr;
  std::uint32_t slot_count = 0;  ///< a power of two
  std::uint32_t lines = 0;       ///< of each slot in use: a power of two, at most kMaxWatchLines
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

/// What the host wants of the strategy words, in pinned host memory: see steward.h. Each word counts its own changes,
/// so reading the words in any order tells what is new.
struct ControlPage {
  alignas(128) std::uint32_t sequence;  ///< raised after every change of `words`
  std::uint32_t site_count;
  std::uint32_t words[kMaxSites];      ///< of sites 1, 2, ...: right behind, so that one read fetches the first two
  alignas(128) std::uint32_t applied;  ///< the last sequence that a steward has brought to the device
};

/// Which waiting thread of the device looks at the control page; in device memory.
struct alignas(128) StewardLine {
  std::uint64_t lease_until_ns;  ///< device time; after it anyone may take over
};

/// The sites whose words should not be read by every waiter, not even once: one word for all, in memory that is far
/// away.
struct HotSites {
  std::uint32_t bits[kMaxSites / 32] = {};

  WIC_DEVICE bool has(std::uint32_t site) const { return (bits[site / 32] >> (site % 32) & 1u) != 0; }
  void add(std::uint32_t site) { bits[site / 32] |= 1u << (site % 32); }
};

/// Given to kernels by value. Pointers are device pointers; `records` is host memory that the device writes to.
struct DeviceView {
  StrategyWord* strategies = nullptr;
  SiteMemory* sites = nullptr;
  WatchTable watch;
  HotSites hot;  ///< as they were when the view was made; only the cost of a wait's first look hangs on it
  StewardLine* steward = nullptr;
  ControlPage* control = nullptr;  ///< nullptr: nobody looks, the host alone writes the strategy words
  RingHead* ring_heads = nullptr;
  DeviceRecord* records = nullptr;       ///< sm_count rings of ring_capacity records each; nullptr = do not record
  std::uint32_t ring_capacity = 0;       ///< a power of two
  std::uint32_t record_sample_mask = 0;  ///< 0 = record everything; else a sample of the waits: see record.h
  std::uint32_t sm_count = 0;
};

}  // namespace wic
