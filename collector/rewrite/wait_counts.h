// What the waits of a patched loop sum up to, as the host reads it (rewriter::SiteCounts).
#pragma once

#include <cstdint>

#include "protocol/events/wait_count.h"
#include "rewriter/patch/words.h"

namespace wicprof::collector {

struct WaitSums {
  std::uint64_t waits = 0, looked = 0, sampled = 0, sampled_rounds = 0, sampled_ns = 0;
};

/// Of one site, whose kCountSlots counts begin at `slots`.
inline WaitSums sums_of(const rewriter::SiteCounts* slots) {
  WaitSums sums;
  for (std::uint32_t i = 0; i < rewriter::kCountSlots; ++i) {
    sums.waits += slots[i].waits;
    sums.looked += slots[i].looked;
    sums.sampled += slots[i].sampled;
    sums.sampled_rounds += slots[i].sampled_rounds;
    sums.sampled_ns += slots[i].sampled_ns;
  }
  return sums;
}

/// What has come since `before`. A copy may meet a wait between two of its sums: they are those of different moments.
inline WaitCountEvent waits_between(const WaitSums& before, const WaitSums& after) {
  auto event = make_event<WaitCountEvent>();
  event.waits = after.waits - before.waits;
  event.looked = after.looked - before.looked;
  event.sampled = after.sampled - before.sampled;
  event.sampled_rounds = after.sampled_rounds - before.sampled_rounds;
  event.sampled_ns = after.sampled_ns - before.sampled_ns;
  return event;
}

}  // namespace wicprof::collector
