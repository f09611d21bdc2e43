// Ring memory for a test: private, or shared with a forked child. Access beyond its end faults.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "protocol/ring.h"

namespace wicprof {

class RingMemory {
 public:
  explicit RingMemory(std::size_t capacity)
      : capacity_(capacity), bytes_((ring_bytes(capacity) + page() - 1) / page() * page()) {
    // A page without access follows, and the ring ends where it begins.
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_ + page(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + bytes_, page(), PROT_NONE);
    ring_ = make_ring(memory_ + bytes_ - ring_bytes(capacity), capacity);
  }
  ~RingMemory() { munmap(memory_, bytes_ + page()); }
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  RingHeader* ring() const { return ring_; }
  std::size_t capacity() const { return capacity_; }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  std::size_t capacity_, bytes_;
  std::byte* memory_;
  RingHeader* ring_;
};

}  // namespace wicprof
