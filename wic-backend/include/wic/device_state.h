// The backend's data in a device's memory: strategy words, site memory, watch slots, record rings.
//
// Every word that waiting warps read has its own 128-byte line in device memory: the worst case known is a shared word
// in host memory (it made a streaming neighbour over 100 times slower on an H200: docs/results, hot_flag).
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/events/header.h"
#include "wic/thread.h"

namespace wic {

inline constexpr std::uint32_t kMaxSites = wicprof::kMaxSites;
inline constexpr std::uint32_t kMaxWatchLines = 32;

/// Replaces the StrategyId in a strategy word: the site's producer is gone, and all waits there end.
inline constexpr std::uint8_t kProducerLost = 254;

/// How a site waits now. Low 8 bits: a StrategyId or kProducerLost. High 24 bits: a count of changes, so that every
/// change makes the word differ.
struct alignas(128) StrategyWord {
  std::uint32_t word;
};
static_assert(sizeof(StrategyWord) == 128);

/// How long waits at a site last: moving averages of the length and of its absolute deviation.
struct WaitLength {
  std::uint32_t mean_ns;
  std::uint32_t deviation_ns;
};

/// Statistics of the earlier waits at a site. Waiters write them as they leave, without a lock: racing stores of one
/// moment hold almost the same values.
struct alignas(128) SiteMemory {
  std::uint32_t
      quad[4];  ///< a WaitLength (mean 0 = nothing known), then the device time of its last update, low word first

  WIC_DEVICE WaitLength usual(const Thread& thread) const {
    std::uint32_t now[4];
    thread.load_quad(quad, now);
    return {now[0], now[1]};
  }
};

/// One watched word. strategies/shared_watch.h describes the fields.
struct alignas(128) WatchSlot {
  struct alignas(128) Line {
    std::uint64_t mirror;
  };
  std::uint64_t key;
  std::uint32_t arrivals;
  alignas(128) std::uint64_t master;
  Line lines[kMaxWatchLines];
};

/// The words of a device that each have a watcher.
struct WatchTable {
  WatchSlot* slots = nullptr;
  std::uint32_t slot_count = 0;  ///< a power of two
  std::uint32_t lines = 0;       ///< in use per slot: a power of two, at most kMaxWatchLines
};

/// One record in a ring: four quads of three payload words and a tag. A slot is complete when all four tags equal the
/// expected generation, so the writer needs no fence and the reader notices a slot that is being overwritten.
struct alignas(64) DeviceRecord {
  struct alignas(16) Quad {
    std::uint32_t payload[3];
    std::uint32_t tag;
  };
  Quad quads[4];
};
static_assert(sizeof(DeviceRecord) == 64);

/// Next sequence number of one SM's record ring. In device memory, so that claiming a slot causes no bus traffic.
struct alignas(128) RingHead {
  std::uint32_t next;
};

/// The strategy words that the host wants, in pinned host memory: see steward.h. Each word counts its own changes, so a
/// reader may read the words in any order.
struct ControlPage {
  alignas(128) std::uint32_t sequence;  ///< incremented after every change of `words`
  std::uint32_t site_count;
  std::uint32_t words[kMaxSites];      ///< of sites 1, 2, ...; one 16-byte read fetches the sequence and the first two
  alignas(128) std::uint32_t applied;  ///< the last sequence that a steward has copied to the device
};

/// The lease that lets one waiting thread of the device read the control page. In device memory.
struct alignas(128) StewardLine {
  std::uint64_t lease_until_ns;  ///< device time; afterwards any thread may take the lease
};

/// The sites whose word is shared and far away (not in device memory): not every waiter should read it, not even once.
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
  HotSites hot;  ///< when the view was made; affects only the cost of a wait's first look
  StewardLine* steward = nullptr;
  ControlPage* control = nullptr;  ///< nullptr = no stewards: only the host writes the strategy words
  RingHead* ring_heads = nullptr;
  DeviceRecord* records = nullptr;  ///< sm_count rings of 2^ring_capacity_log2 records; nullptr = do not record
  std::uint32_t ring_capacity_log2 = 0;
  std::uint32_t record_sample_mask = 0;  ///< 0 = record everything; else record a sample of the waits: see record.h
  std::uint32_t sm_count = 0;
};

}  // namespace wic
