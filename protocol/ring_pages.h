// The pages of a ring in the producer's process.
#pragma once

#include <cstdint>

#include "protocol/ring.h"

namespace wicprof {

/// Brings the memory of a busy ring into the producer's process before the producer comes there: the first access to a
/// page takes the thread that writes a microsecond or more, which is a third of what recording a short wait costs. A
/// ring that is little used gets its pages one by one. One thread at a time, none of those that write.
class RingPages {
 public:
  /// Between two looks. A producer that writes so much ten times a second has gone through a ring of 8 MiB in 13 s.
  static constexpr std::uint64_t kBusy = 64 << 10;

  /// `ring`: from make_ring() or SessionMap::claim_ring(), with the process as its producer; outlives the object.
  explicit RingPages(RingHeader* ring);

  /// Call at regular intervals. Takes some milliseconds once, else nothing. Does nothing on Linux before 5.14.
  void look();

 private:
  RingHeader* const ring_;
  const std::uint64_t capacity_;
  std::uint64_t last_;
  bool done_ = false;
};

}  // namespace wicprof
