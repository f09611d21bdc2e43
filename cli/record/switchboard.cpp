#include "cli/record/switchboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace wicprof::cli {

namespace {
constexpr TimeNs kToggleTimeout = 2 * kSecond;  // a running program takes well under 1 ms; a stopped one exceeds this
constexpr TimeNs kCheckInterval = 50 * kMillisecond;  // how often a waiting toggle checks whether the program has ended
}  // namespace

std::uint32_t Switchboard::request(WantedWait wanted) {
  const std::lock_guard lock(mutex_);
  return request_wait(control_, 0, wanted);
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

Result<ToggleReply> Switchboard::toggle(const ToggleRequest& request) {
  const std::lock_guard lock(mutex_);
  if (attached_runtimes(control_) == 0) {
    return unavailable(
        "this app has no wic runtime (or has not started it yet), so it has nothing to toggle; only waits written "
        "with wic::wait_until (wic-backend/include/wic) can be switched");
  }
  const std::vector<std::string> names = site_names();
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
  std::vector<WayOfWaiting> before = ways_before(site, request.site);
  const std::uint32_t sequence = request_wait(control_, site, {request.mode, request.strategy});
  const TimeNs requested = control_.requested_ns.load(std::memory_order_relaxed);
  const TimeNs deadline = requested + kToggleTimeout;
  while (!wait_applied(control_, sequence, kCheckInterval)) {
    if (closed_.load(std::memory_order_relaxed)) {
      return unavailable("the app ended before it applied the change");
    }
    if (now_ns() >= deadline) {
      return unavailable(
          "the app did not apply the change within 2 s; is it stopped (Ctrl-Z, a debugger)? The request stays "
          "pending and takes effect as soon as the app continues");
    }
  }
  return ToggleReply{request.mode, request.strategy,         request.site,
                     requested,    last_effective(control_), std::move(before)};
}

std::vector<WayOfWaiting> Switchboard::ways_before(std::uint32_t site, const std::string& name) const {
  const auto own_way = [&](std::uint32_t of) { return control_.sites[of].wanted.load(std::memory_order_relaxed); };
  WantedWait way = program_wait(control_);
  if (site != 0 && own_way(site) != WantedWait::kNothing) way = WantedWait::unpack(own_way(site));
  std::vector<WayOfWaiting> before{{name, way.mode, way.strategy}};
  if (site != 0) return before;
  for (const std::string& other : site_names()) {
    const std::uint32_t cleared = find_site(control_, other.c_str());
    if (cleared == 0 || own_way(cleared) == WantedWait::kNothing) continue;
    const WantedWait own = WantedWait::unpack(own_way(cleared));
    before.push_back({other, own.mode, own.strategy});
  }
  return before;
}

}  // namespace wicprof::cli
