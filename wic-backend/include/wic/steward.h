// Brings a change of strategy to the device from inside, by one of the threads that wait.
//
// The host writes strategy words itself, by a copy. But where hundreds of threads poll one word in host memory, that copy
// takes over a millisecond on an H200 (it fetches its commands and its data over the bus that they keep busy), while a
// single thread's read of another host line takes 2 us on average there. So one waiting thread of a device, the steward,
// looks at the control page in host memory every 20 us and copies what has changed. It holds its office by a lease in
// device memory; when its wait ends the lease runs out and the next waiting thread takes over.
#pragma once

#include "wic/device_state.h"
#include "wic/thread.h"

namespace wic {

class Steward {
 public:
  static constexpr std::uint32_t kLookNs = 20'000;
  static constexpr std::uint32_t kLeaseNs = 200'000;

  /// Called again and again by the leader of a waiting group. Waits shorter than a look never get here.
  WIC_DEVICE void attend(const Thread& thread, const DeviceView& view, std::uint64_t now) {
    if (view.control == nullptr) return;
    if (next_look_ == 0) next_look_ = now + kLookNs;
    if (now < next_look_) return;
    next_look_ = now + kLookNs;
    if (!hold_office(thread, *view.steward, now)) return;
    const std::uint32_t sequence = thread.load(&view.control->sequence);
    if (sequence == thread.load(&view.steward->sequence)) return;
    thread.fence_acquire();
    const std::uint32_t sites = thread.load(&view.control->site_count);
    for (std::uint32_t site = 1; site <= sites && site < kMaxSites; ++site) {
      thread.store(&view.strategies[site].word, thread.load(&view.control->words[site]));
    }
    thread.store(&view.steward->sequence, sequence);
    thread.store_release(&view.control->applied, sequence);
  }

 private:
  WIC_DEVICE bool hold_office(const Thread& thread, StewardLine& line, std::uint64_t now) {
    std::uint64_t lease = thread.load(&line.lease_until_ns);
    if (lease != mine_ && now < lease) return false;  // another's
    const std::uint64_t next = now + kLeaseNs;
    if (!thread.compare_exchange(&line.lease_until_ns, lease, next)) return false;
    mine_ = next;
    return true;
  }

  std::uint64_t next_look_ = 0;
  std::uint64_t mine_ = 0;  // the lease that this thread wrote last
};

}  // namespace wic
