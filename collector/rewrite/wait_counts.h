// What the waits of a patched loop sum up to, as the host reads it (rewriter::SiteCounts).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/events/wait_count.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/words.h"

namespace wicprof::collector {

struct WaitSums {
  std::uint64_t looked = 0, timed = 0, timed_rounds = 0, timed_ns = 0;
  std::array<std::uint64_t, rewriter::kCountSlots> sampled{};  // by slot
};

/// Of one site, whose kCountSlots counts begin at `slots`.
inline WaitSums sums_of(const rewriter::SiteCounts* slots) {
  WaitSums sums;
  for (std::size_t i = 0; i < sums.sampled.size(); ++i) {
    sums.looked += slots[i].looked;
    sums.sampled[i] = slots[i].sampled;
    sums.timed += slots[i].timed;
    sums.timed_rounds += slots[i].timed_rounds;
    sums.timed_ns += slots[i].timed_ns;
  }
  return sums;
}

/// What has come since `before`. A copy may meet a wait between two of its sums: they are those of different moments.
inline WaitCountEvent waits_between(const WaitSums& before, const WaitSums& after, const rewriter::LoadedSite& site) {
  auto event = make_event<WaitCountEvent>();
  event.looked = after.looked - before.looked;
  event.one_in = rewriter::kSampleOneIn;
  for (std::size_t i = 0; i < after.sampled.size(); ++i) {
    const auto sampled = static_cast<std::int64_t>(after.sampled[i] - before.sampled[i]);
    event.sampled += sampled;
    event.sampled_squares += static_cast<std::uint64_t>(sampled * sampled);
  }
  event.timed = after.timed - before.timed;
  event.timed_rounds = after.timed_rounds - before.timed_rounds;
  event.timed_ns = after.timed_ns - before.timed_ns;
  // Where ends are not known, longer waits are in the sample as well.
  event.waits = event.sampled * event.one_in + static_cast<std::int64_t>(site.ends_known ? event.looked : 0);
  return event;
}

}  // namespace wicprof::collector
