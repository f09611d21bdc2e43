#include "protocol/control.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

namespace wicprof {

namespace {
// Sequence numbers wrap: b is at or after a when the signed distance is not negative.
bool reached(std::uint32_t value, std::uint32_t goal) { return static_cast<std::int32_t>(value - goal) >= 0; }
}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs timeout) {
  timespec t{};
  t.tv_sec = timeout / kSecond;
  t.tv_nsec = timeout % kSecond;
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &t, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t find_site(const ControlBlock& control, const char* name) {
  const std::uint32_t count = control.site_count.load(std::memory_order_acquire);
  for (std::uint32_t site = 1; site <= count && site < kMaxSites; ++site) {
    if (std::strncmp(control.sites[site].name, name, kMaxSiteName) == 0) return site;
  }
  return 0;
}

std::uint32_t request_wait(ControlBlock& control, std::uint32_t site, WantedWait wanted) {
  if (site == 0) {
    for (SiteControl& s : control.sites) s.wanted.store(WantedWait::kNothing, std::memory_order_relaxed);
    control.wanted.store(wanted.pack(), std::memory_order_relaxed);
  } else {
    control.sites[site].wanted.store(wanted.pack(), std::memory_order_relaxed);
  }
  control.requested_ns.store(now_ns(), std::memory_order_relaxed);
  const std::uint32_t sequence = control.sequence.fetch_add(1, std::memory_order_release) + 1;
  futex_wake_all(control.sequence);
  return sequence;
}

bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout) {
  const TimeNs end = now_ns() + timeout;
  for (;;) {
    const std::uint32_t applied = control.applied_sequence.load(std::memory_order_acquire);
    if (reached(applied, sequence)) return true;
    const TimeNs left = end - now_ns();
    if (left <= 0) return false;
    futex_wait(control.applied_sequence, applied, left);
  }
}

}  // namespace wicprof
