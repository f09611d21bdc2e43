#include "cli/record/switchboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace wicprof::cli {

namespace {
constexpr TimeNs kToggleTimeout = 2 * kSecond;  // a running program takes well under 1 ms; a stopped one exceeds this
constexpr TimeNs kCheckInterval = 50 * kMillisecond;  // how often a waiting toggle checks whether the program has ended
// A host thread's first place has its name with the collector's next flush, by default within 100 ms.
constexpr TimeNs kNamingTimeout = kSecond;
constexpr std::chrono::milliseconds kNamingInterval{10};

/// The processes that have applied what is wanted, and when the first and the last of them had.
struct TakenBy {
  std::uint32_t processes = 0;
  TimeNs first = 0, last = 0;
};
/// `since`: without those that joined after the request, which was then.
TakenBy taken_by(const ControlBlock& control, TimeNs since) {
  TakenBy taken;
  for (const MemberControl& member : control.members) {
    if (member.state.load(std::memory_order_acquire) == 0) continue;
    TimeNs of_process = 0;
    for (const PartControl& part : member.parts) of_process = std::max(of_process, part.effective_ns.load());
    if (of_process < since) continue;
    taken.first = taken.processes++ == 0 ? of_process : std::min(taken.first, of_process);
    taken.last = std::max(taken.last, of_process);
  }
  return taken;
}
}  // namespace

void Switchboard::start_with(WantedWait wanted, WaitSide side) {
  if (side != WaitSide::host) control_.wanted.store(device_part(wanted).pack(), std::memory_order_release);
  if (side != WaitSide::device) control_.host_wanted.store(host_part(wanted).pack(), std::memory_order_release);
}

std::uint32_t Switchboard::request(WantedWait wanted, WaitSide side) {
  const std::lock_guard lock(mutex_);
  return request_wait(control_, 0, wanted, side);
}

bool Switchboard::applied(std::uint32_t sequence) const { return wait_applied(control_, sequence, 0); }

std::vector<std::string> Switchboard::site_names() const {
  std::vector<std::string> names;
  const std::uint32_t count = std::min(control_.site_count.load(std::memory_order_acquire), kMaxSites - 1);
  for (std::uint32_t site = 1; site <= count; ++site) {
    if (control_.sites[site].naming.load(std::memory_order_acquire) != SiteControl::kNamed) continue;
    const char* name = control_.sites[site].name;
    names.emplace_back(name, strnlen(name, kMaxSiteName));
  }
  return names;
}

bool Switchboard::has_sites(WaitSide side) const {
  const std::uint32_t count = std::min(control_.site_count.load(std::memory_order_acquire), kMaxSites - 1);
  for (std::uint32_t site = 1; site <= count; ++site) {
    if (control_.sites[site].naming.load(std::memory_order_acquire) != SiteControl::kNamed) continue;
    if (is_of_host(site) == (side == WaitSide::host)) return true;
  }
  return false;
}

bool Switchboard::is_of_host(std::uint32_t site) const {
  return control_.sites[site].side.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(WaitSide::host);
}

std::vector<std::string> Switchboard::first_site_names() const {
  const TimeNs deadline = now_ns() + kNamingTimeout;
  for (;;) {
    std::vector<std::string> names = site_names();
    if (!names.empty() || now_ns() >= deadline || closed_.load(std::memory_order_relaxed)) return names;
    std::this_thread::sleep_for(kNamingInterval);
  }
}

Result<ToggleReply> Switchboard::toggle(const ToggleRequest& request) {
  const std::lock_guard lock(mutex_);
  if (attached_processes(control_) == 0) {
    return unavailable(
        "this app has no wic runtime (or has not started it yet), and no host thread of it has waited in a call of "
        "CUDA "
        "that wic-prof records, so it has nothing to toggle; waits written with wic::wait_until "
        "(wic-backend/include/wic) "
        "and waits in calls such as cudaStreamSynchronize can be switched");
  }
  const std::vector<std::string> names = first_site_names();
  if (names.empty()) {
    return unavailable(
        "this app has no wait sites, so it has nothing to toggle; declare them with wic::Runtime::add_site "
        "(wic-backend/include/wic/runtime.h)");
  }
  std::uint32_t site = 0;
  if (!request.site.empty()) {
    site = find_site(control_, request.site.c_str());
    if (site == 0) {
      return bad_input(
          fmt::format("this app has no wait site '{}'; its sites: {}", request.site, fmt::join(names, ", ")));
    }
  }
  std::vector<WayOfWaiting> before = ways_before(site, request);
  const std::uint32_t sequence = request_wait(control_, site, {request.mode, request.strategy}, request.side);
  const TimeNs requested = control_.requested_ns.load(std::memory_order_relaxed);
  const TimeNs deadline = requested + kToggleTimeout;
  while (!wait_applied(control_, sequence, kCheckInterval)) {
    if (closed_.load(std::memory_order_relaxed)) {
      return unavailable("the app ended before it applied the change");
    }
    if (now_ns() >= deadline) {
      return unavailable(fmt::format(
          "process {} of the app did not apply the change within 2 s; is it stopped (Ctrl-Z, a debugger)? The request "
          "stays pending and takes effect as soon as the process continues",
          first_without(control_, sequence)));
    }
  }
  const TakenBy taken = taken_by(control_, requested);
  return ToggleReply{request.mode,      request.strategy, request.site, requested,       taken.last,
                     std::move(before), request.side,     unreached(),  taken.processes, taken.last - taken.first};
}

std::uint32_t Switchboard::unreached() const {
  return control_.parts_refused.load(std::memory_order_relaxed) +
         session_.header().rings_refused.load(std::memory_order_relaxed);
}

std::vector<WayOfWaiting> Switchboard::ways_before(std::uint32_t site, const ToggleRequest& request) const {
  const auto own_way = [&](std::uint32_t of) { return control_.sites[of].wanted.load(std::memory_order_relaxed); };
  const WantedWait device = program_wait(control_), host = host_wait(control_);
  if (site != 0) {
    WantedWait way = is_of_host(site) ? host : device;
    if (own_way(site) != WantedWait::kNothing) way = WantedWait::unpack(own_way(site));
    return {{request.site, way.mode, way.strategy, WaitSide::both}};
  }
  std::vector<WayOfWaiting> before;
  const bool together = request.side == WaitSide::both && host_part(device).pack() == host.pack();
  if (request.side != WaitSide::host) {
    before.push_back({"", device.mode, device.strategy, together ? WaitSide::both : WaitSide::device});
  }
  if (request.side != WaitSide::device && !together) {
    before.push_back({"", host.mode, host.strategy, WaitSide::host});
  }
  for (const std::string& other : site_names()) {
    const std::uint32_t cleared = find_site(control_, other.c_str());
    if (cleared == 0 || own_way(cleared) == WantedWait::kNothing) continue;
    if (request.side == (is_of_host(cleared) ? WaitSide::device : WaitSide::host)) continue;
    const WantedWait own = WantedWait::unpack(own_way(cleared));
    before.push_back({other, own.mode, own.strategy, WaitSide::both});
  }
  return before;
}

}  // namespace wicprof::cli
