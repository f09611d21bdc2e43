#include "protocol/control.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace wicprof {

namespace {
// Sequence numbers wrap: b is at or after a when the signed distance is not negative.
constexpr TimeNs kNamingTimeout = 100 * kMillisecond;  // a name is written in well under 1 us
constexpr TimeNs kDeathWatch = 50 * kMillisecond;      // how often a waiter asks whether who it waits for still lives

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
    if (control.sites[site].naming.load(std::memory_order_acquire) != SiteControl::kNamed) continue;
    if (std::strncmp(control.sites[site].name, name, kMaxSiteName) == 0) return site;
  }
  return 0;
}

std::uint32_t register_site(ControlBlock& control, const char* name) {
  const std::uint32_t mine = static_cast<std::uint32_t>(getpid()) << 1;
  // Names fill the places without gaps, so a search up to the first free place sees all of them.
  for (std::uint32_t site = 1; site < kMaxSites; ++site) {
    SiteControl& place = control.sites[site];
    const TimeNs end = now_ns() + kNamingTimeout;
    std::uint32_t naming = place.naming.load(std::memory_order_acquire);
    while (naming != SiteControl::kNamed) {
      const bool late = naming != 0 && now_ns() >= end;
      const bool abandoned = late && kill(static_cast<pid_t>(naming >> 1), 0) != 0 && errno == ESRCH;
      if (late && !abandoned) break;  // a process that was stopped: this place is its own, the next one may do
      if (naming == 0 || abandoned) {
        if (place.naming.compare_exchange_strong(naming, mine, std::memory_order_acq_rel)) {
          std::strncpy(place.name, name, kMaxSiteName - 1);
          place.name[kMaxSiteName - 1] = '\0';
          place.naming.store(SiteControl::kNamed, std::memory_order_release);
          std::uint32_t count = control.site_count.load(std::memory_order_relaxed);
          while (count < site && !control.site_count.compare_exchange_weak(count, site, std::memory_order_release)) {
          }
          return site;
        }
        continue;
      }
      sched_yield();
      naming = place.naming.load(std::memory_order_acquire);
    }
    if (naming == SiteControl::kNamed && std::strncmp(place.name, name, kMaxSiteName - 1) == 0) return site;
  }
  return 0;
}

RuntimeControl* join_runtime(ControlBlock& control, const void* session, std::uint32_t sequence) {
  for (RuntimeControl& runtime : control.runtimes) {
    if (!runtime.owner.claim(session)) continue;
    runtime.effective_ns.store(0, std::memory_order_relaxed);
    runtime.applied_sequence.store(sequence, std::memory_order_release);
    control.applications.fetch_add(1, std::memory_order_release);
    futex_wake_all(control.applications);
    return &runtime;
  }
  return nullptr;
}

void leave_runtime(ControlBlock& control, RuntimeControl& runtime) {
  runtime.owner.give_back();
  control.applications.fetch_add(1, std::memory_order_release);
  futex_wake_all(control.applications);
}

void drop_runtime(ControlBlock& control, RuntimeControl& runtime, std::uint32_t gone) {
  if (!runtime.owner.take_back(gone)) return;
  control.applications.fetch_add(1, std::memory_order_release);
  futex_wake_all(control.applications);
}

std::uint32_t attached_runtimes(const ControlBlock& control) {
  std::uint32_t count = 0;
  for (const RuntimeControl& runtime : control.runtimes) count += runtime.owner.load(std::memory_order_acquire) != 0;
  return count;
}

void report_applied(ControlBlock& control, RuntimeControl& runtime, std::uint32_t sequence) {
  runtime.effective_ns.store(now_ns(), std::memory_order_relaxed);
  runtime.applied_sequence.store(sequence, std::memory_order_release);
  control.applications.fetch_add(1, std::memory_order_release);
  futex_wake_all(control.applications);
}

WantedWait program_wait(const ControlBlock& control) {
  const std::uint32_t wanted = control.wanted.load(std::memory_order_relaxed);
  return WantedWait::unpack(wanted != WantedWait::kNothing ? wanted : control.own.load(std::memory_order_relaxed));
}

WantedWait host_wait(const ControlBlock& control) {
  const std::uint32_t wanted = control.host_wanted.load(std::memory_order_relaxed);
  return wanted == WantedWait::kNothing ? WantedWait{} : host_part(WantedWait::unpack(wanted));
}

std::uint32_t request_wait(ControlBlock& control, std::uint32_t site, WantedWait wanted, WaitSide side) {
  if (site == 0) {
    for (SiteControl& s : control.sites) {
      const bool of_host = s.side.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(WaitSide::host);
      if (side != (of_host ? WaitSide::device : WaitSide::host))
        s.wanted.store(WantedWait::kNothing, std::memory_order_relaxed);
    }
    if (side != WaitSide::host) control.wanted.store(device_part(wanted).pack(), std::memory_order_relaxed);
    if (side != WaitSide::device) control.host_wanted.store(host_part(wanted).pack(), std::memory_order_relaxed);
  } else {
    control.sites[site].wanted.store(wanted.pack(), std::memory_order_relaxed);
  }
  control.requested_ns.store(now_ns(), std::memory_order_relaxed);
  const std::uint32_t sequence = control.sequence.fetch_add(1, std::memory_order_release) + 1;
  futex_wake_all(control.sequence);
  return sequence;
}

namespace {

template <class Done>
bool wait_for_applications(const ControlBlock& control, TimeNs timeout, Done&& done) {
  const TimeNs end = now_ns() + timeout;
  for (;;) {
    const std::uint32_t seen = control.applications.load(std::memory_order_acquire);
    if (done()) return true;
    const TimeNs left = end - now_ns();
    if (left <= 0) return false;
    futex_wait(control.applications, seen, left < kDeathWatch ? left : kDeathWatch);
  }
}

bool has_applied(const RuntimeControl& runtime, std::uint32_t sequence) {
  return reached(runtime.applied_sequence.load(std::memory_order_acquire), sequence);
}

}  // namespace

bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout) {
  return wait_for_applications(control, timeout, [&] {
    bool any = false;
    for (const RuntimeControl& runtime : control.runtimes) {
      if (runtime.owner.load(std::memory_order_acquire) == 0) continue;
      any = true;
      if (!has_applied(runtime, sequence) && gone_owner(runtime.owner, "", OwnerLook::quick) == 0) return false;
    }
    return any;
  });
}

bool wait_applied_by(const ControlBlock& control, const RuntimeControl& runtime, std::uint32_t sequence,
                     TimeNs timeout) {
  return wait_for_applications(control, timeout, [&] { return has_applied(runtime, sequence); });
}

TimeNs last_effective(const ControlBlock& control) {
  TimeNs last = 0;
  for (const RuntimeControl& runtime : control.runtimes) {
    if (runtime.owner.load(std::memory_order_acquire) == 0) continue;
    last = std::max(last, runtime.effective_ns.load(std::memory_order_acquire));
  }
  return last;
}

}  // namespace wicprof
