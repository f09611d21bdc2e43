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
  std::uint64_t looked = 0, sampled_rounds = 0, sampled_ns = 0;
  std::array<std::uint64_t, rewriter::kCountSlots> sampled{};  // by slot
};

/// Of one site, whose kCountSlots counts begin at `slots`.
inline WaitSums sums_of(const rewriter::SiteCounts* slots) {
  WaitSums sums;
  for (std::size_t i = 0; i < sums.sampled.size(); ++i) {
    sums.looked += slots[i].looked;
    sums.sampled[i] = slots[i].sampled;
    sums.sampled_rounds += slots[i].sampled_rounds;
    sums.sampled_ns += slots[i].sampled_ns;
  }
  return sums;
}

/// What has come since `before`. A copy may meet a wait between two of its sums: they are those of different moments.
inline WaitCountEvent waits_between(const WaitSums& before, const WaitSums& after, const rewriter::LoadedSite& site) {
  auto event = make_event<WaitCountEvent>();
  event.looked = after.looked - before.looked;
  event.one_in = rewriter::kSampleOneIn;
  for (std::size_t i = 0; i < after.sampled.size(); ++i) {
    const std::uint64_t sampled = after.sampled[i] - before.sampled[i];
    event.sampled += sampled;
    event.sampled_squares += sampled * sampled;
  }
  event.sampled_rounds = after.sampled_rounds - before.sampled_rounds;
  event.sampled_ns = after.sampled_ns - before.sampled_ns;
  // Where ends are not known, longer waits are in the sample as well.
  event.waits = event.sampled * event.one_in + (site.ends_known ? event.looked : std::uint64_t{0});
  return event;
}

}  // namespace wicprof::collector
