#include "protocol/ring_pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace wicprof {

namespace {
#ifdef MADV_POPULATE_WRITE
constexpr int kPopulateWrite = MADV_POPULATE_WRITE;
#else
constexpr int kPopulateWrite = 23;  // younger than this system's headers
#endif
}  // namespace

RingPages::RingPages(RingHeader* ring)
    : ring_(ring), capacity_(ring->capacity), last_(ring->head.load(std::memory_order_relaxed)) {}

void RingPages::look() {
  if (done_) return;
  const std::uint64_t now = ring_->head.load(std::memory_order_relaxed);
  const std::uint64_t written = now - last_;
  last_ = now;
  if (written < kBusy) return;
  done_ = true;
  // Whole pages of the ring, wherever the producer is. Fails without a signal where the system has no memory left.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(ring_) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(ring_->data) + capacity_) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite);
}

}  // namespace wicprof
