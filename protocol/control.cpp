#include "protocol/control.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
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

namespace {

constexpr std::uint64_t kCountOfParts = 0xff;

// The calling process as MemberControl::state has it, without parts. The kernel gives each program that a process runs
// 16 random bytes, which all of its libraries see: what is left of a program that has ended, or has run exec, is not
// taken for this one's. The namespace tells processes of different containers apart.
std::uint64_t this_process() {
  std::uint64_t program = pid_namespace_of_this_process();
  if (const auto* random = reinterpret_cast<const void*>(getauxval(AT_RANDOM)); random != nullptr) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, random, sizeof bytes);
    program ^= bytes;
  }
  program *= 0x9e3779b97f4a7c15u;
  return static_cast<std::uint64_t>(getpid()) << 32 | (program >> 40) << 8;
}

// Adds a part to the place, if it is `process`'s or can become so.
bool add_part(MemberControl& member, std::uint64_t process, bool take_free) {
  std::uint64_t state = member.state.load();
  for (;;) {
    const bool is_own = (state & ~kCountOfParts) == process;
    if (!is_own && (state != 0 || !take_free)) return false;
    if (is_own && (state & kCountOfParts) >= kMaxParts) return false;
    if (member.state.compare_exchange_weak(state, (is_own ? state : process) + 1)) return true;
  }
}

void remove_part(MemberControl& member) {
  std::uint64_t state = member.state.load();
  while ((state & kCountOfParts) != 0 &&
         !member.state.compare_exchange_weak(state, (state & kCountOfParts) == 1 ? 0 : state - 1)) {
  }
}

MemberControl& member_of(ControlBlock& control, const PartControl& part) {
  const auto offset = reinterpret_cast<const std::byte*>(&part) - reinterpret_cast<const std::byte*>(control.members);
  return control.members[static_cast<std::size_t>(offset) / sizeof(MemberControl)];
}

void tell_tool(ControlBlock& control) {
  control.applications.fetch_add(1, std::memory_order_release);
  futex_wake_all(control.applications);
}

// Calls visit(part, pid of its holder) for each part that is held, until that returns false.
template <class Visit>
bool for_each_part(const ControlBlock& control, Visit&& visit) {
  for (const MemberControl& member : control.members) {
    if (member.state.load(std::memory_order_acquire) == 0) continue;
    for (const PartControl& part : member.parts) {
      const std::uint32_t holder = part.owner.load(std::memory_order_acquire);
      if (holder != 0 && !visit(part, holder)) return false;
    }
  }
  return true;
}

}  // namespace

PartControl* join_session(ControlBlock& control, const void* session, std::uint32_t sequence) {
  const std::uint64_t process = this_process();
  // Two parts that join at one time may take two places; nothing but the number of processes depends on that.
  for (const bool take_free : {false, true}) {
    for (MemberControl& member : control.members) {
      if (!add_part(member, process, take_free)) continue;
      for (PartControl& part : member.parts) {
        if (!part.owner.claim(session)) continue;
        part.effective_ns.store(0, std::memory_order_relaxed);
        part.applied_sequence.store(sequence, std::memory_order_release);
        tell_tool(control);
        return &part;
      }
      remove_part(member);  // its parts are still held by an earlier process
    }
  }
  return nullptr;
}

void leave_session(ControlBlock& control, PartControl& part) {
  part.owner.give_back();
  remove_part(member_of(control, part));
  tell_tool(control);
}

void drop_part(ControlBlock& control, PartControl& part, std::uint32_t gone) {
  if (!part.owner.take_back(gone)) return;
  remove_part(member_of(control, part));
  tell_tool(control);
}

std::uint32_t attached_processes(const ControlBlock& control) {
  std::uint32_t count = 0;
  for (const MemberControl& member : control.members) count += member.state.load(std::memory_order_acquire) != 0;
  return count;
}

void report_applied(ControlBlock& control, PartControl& part, std::uint32_t sequence) {
  part.effective_ns.store(now_ns(), std::memory_order_relaxed);
  part.applied_sequence.store(sequence, std::memory_order_release);
  tell_tool(control);
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

bool has_applied(const PartControl& part, std::uint32_t sequence) {
  return reached(part.applied_sequence.load(std::memory_order_acquire), sequence);
}

bool has_parts(const ControlBlock& control) {
  return !for_each_part(control, [](const PartControl&, std::uint32_t) { return false; });
}

}  // namespace

std::uint32_t first_without(const ControlBlock& control, std::uint32_t sequence) {
  std::uint32_t late = 0;
  for_each_part(control, [&](const PartControl& part, std::uint32_t holder) {
    if (!has_applied(part, sequence) && gone_owner(part.owner, "", OwnerLook::quick) == 0) late = holder;
    return late == 0;
  });
  return late;
}

bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout) {
  // A process that has counted itself in, and holds no part yet, has applied nothing.
  return wait_for_applications(control, timeout,
                               [&] { return has_parts(control) && first_without(control, sequence) == 0; });
}

bool wait_applied_by(const ControlBlock& control, const PartControl& part, std::uint32_t sequence, TimeNs timeout) {
  return wait_for_applications(control, timeout, [&] { return has_applied(part, sequence); });
}

TimeNs last_effective(const ControlBlock& control) {
  TimeNs last = 0;
  for_each_part(control, [&](const PartControl& part, std::uint32_t) {
    last = std::max(last, part.effective_ns.load(std::memory_order_acquire));
    return true;
  });
  return last;
}

}  // namespace wicprof
