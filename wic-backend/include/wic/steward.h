// Brings a change of strategy to the device from inside, by a thread of a waiting group.
//
// The host also writes strategy words itself, by a copy. But where hundreds of threads poll one word in host memory,
// that copy takes over a millisecond on an H200: it fetches its commands and data over the bus that the pollers keep
// busy. A single thread's read of another host line takes 2 us there on average. So one thread per device, the steward,
// reads the control page in host memory while its group waits, and copies what has changed. The steward is the first
// thread of a group's second warp, which is idle while the group's leader polls, so the poll loop does no extra work.
// It holds a lease in device memory, and gives it back when the wait ends. A group of one warp, and a group in which
// every thread polls, has no idle thread; the host's own write reaches these.
#pragma once

#include "wic/device_state.h"
#include "wic/thread.h"

namespace wic {

inline constexpr std::uint32_t kStewardNapNs = 250;
inline constexpr std::uint32_t kNapsBetweenLooks = 16;  ///< a look every few us: each one reads host memory
inline constexpr std::uint64_t kStewardLeaseNs = 1'000'000;
inline constexpr std::uint64_t kShortWaitNs = 2'000;  ///< a wait that ends sooner is too short to take the lease
inline constexpr std::uint32_t kGroupFinished =
    0x646e6521;  ///< in GroupScratch::finished once the leader's wait is over

/// The part of the device's view that a steward needs.
struct StewardView {
  ControlPage* control;
  StrategyWord* strategies;
  StewardLine* steward;
};

namespace detail {

// Copies the page's words if its sequence is new. One look is one read, which includes the words of the first two
// sites: beside hundreds of pollers every further read is slow, and many reads of one host line slow everybody.
WIC_DEVICE inline bool copy_changes(const Thread& thread, const StewardView& view, std::uint32_t& seen) {
  std::uint32_t page[4];  // sequence, site_count, words[1], words[2]
  thread.load_quad(&view.control->sequence, page);
  if (page[0] == seen) return false;
  seen = page[0];
  const std::uint32_t sites = page[1];
  WIC_ROLLED
  for (std::uint32_t site = 1; site <= sites && site <= 2; ++site) {
    thread.store(&view.strategies[site].word, page[1 + site]);
  }
  // The first words may be older than the sequence; after this fence every load sees the words of the sequence or
  // later.
  thread.fence_acquire();
  WIC_ROLLED
  for (std::uint32_t site = 1; site <= sites && site < kMaxSites; ++site) {
    thread.store(&view.strategies[site].word, thread.load(&view.control->words[site - 1]));
  }
  thread.store_release(&view.control->applied, seen);
  return true;
}

WIC_DEVICE inline bool finished(const Thread& thread, GroupScratch& scratch) {
  return thread.fetch_add(&scratch.finished, 0) == kGroupFinished;
}

}  // namespace detail

/// Called by the one thread of a waiting group that may be steward. Returns at once where the device has a steward
/// already, else when the group's leader has finished.
WIC_DEVICE inline void serve_as_steward(Thread thread, StewardView view, GroupScratch& scratch) {
  std::uint64_t now = thread.clock_ns();
  for (const std::uint64_t soon = now + kShortWaitNs; now < soon; now = thread.clock_ns()) {
    if (detail::finished(thread, scratch)) return;
    thread.sleep_ns(32);
  }
  std::uint64_t lease = thread.load(&view.steward->lease_until_ns);
  if (now < lease) return;
  std::uint64_t mine = now + kStewardLeaseNs;
  if (!thread.compare_exchange(&view.steward->lease_until_ns, lease, mine)) return;
  std::uint32_t seen = thread.load(&view.control->applied);
  bool copied = false;
  // Sleeps only briefly at a time, so that its own group does not wait for it.
  for (std::uint32_t slept = 0; !detail::finished(thread, scratch);) {
    thread.sleep_ns(kStewardNapNs);
    if (++slept % kNapsBetweenLooks != 0) continue;
    now = thread.clock_ns();
    if (now + kStewardLeaseNs / 2 > mine) {
      std::uint64_t held = mine;
      if (!thread.compare_exchange(&view.steward->lease_until_ns, held, now + kStewardLeaseNs)) break;
      mine = now + kStewardLeaseNs;
    }
    copied = detail::copy_changes(thread, view, seen) || copied;
  }
  // A copied word may have replaced a newer one that the host wrote itself in the meantime.
  while (copied) copied = detail::copy_changes(thread, view, seen);
  thread.compare_exchange(&view.steward->lease_until_ns, mine, 0);
}

}  // namespace wic
