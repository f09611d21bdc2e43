// The records that each ring dropped, over all producers that the ring had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/write/counters.h"

namespace wicprof::store {

class RingLosses {
 public:
  /// The running totals of the ring's current producer.
  void set(std::size_t ring, std::uint64_t dropped, std::uint64_t corrupt, Counters& counters) {
    if (ring >= rings_.size()) rings_.resize(ring + 1);
    Counts& counts = rings_[ring];
    if (counts.dropped == dropped && counts.corrupt == corrupt) return;
    counts.dropped = dropped;
    counts.corrupt = corrupt;
    const std::string detail = "ring " + std::to_string(ring);
    if (dropped != 0) counters.set_total(Stat::ring_dropped, detail, counts.earlier_dropped + dropped);
    if (corrupt != 0) counters.set_total(Stat::ring_corrupt, detail, counts.earlier_corrupt + corrupt);
  }

  /// The ring's next producer counts from 0.
  void forget_ring(std::size_t ring) {
    if (ring >= rings_.size()) return;
    Counts& counts = rings_[ring];
    counts.earlier_dropped += std::exchange(counts.dropped, 0);
    counts.earlier_corrupt += std::exchange(counts.corrupt, 0);
  }

 private:
  struct Counts {
    std::uint64_t dropped = 0, corrupt = 0;                  // of the current producer
    std::uint64_t earlier_dropped = 0, earlier_corrupt = 0;  // of the producers before it
  };
  std::vector<Counts> rings_;
};

}  // namespace wicprof::store
