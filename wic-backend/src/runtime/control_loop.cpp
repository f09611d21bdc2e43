#include "src/runtime/control_loop.h"

#include <utility>

#include "protocol/thread.h"
#include "src/device/own_thread.h"

namespace wic {

Result<std::string> ControlLoop::start() {
  const std::uint32_t own = board_.wanted(0).pack();
  sites_.with([&](auto& sites) { sites[0].own = own; });
  if (const std::uint32_t wanted = control().wanted.load(std::memory_order_relaxed); wanted != WantedWait::kNothing) {
    if (Result<> set = board_.want(0, WantedWait::unpack(wanted)); !set) return set.error();
  } else {
    control().own.store(own, std::memory_order_relaxed);  // `wic-prof sessions` shows it
  }
  std::string warning = member_.join();
  const auto start = [](auto run) { return wicprof::start_thread(std::move(run)); };
  if (member_.begin(start, [] { enter_own_thread("wic-control"); })) return warning;
  recorder_gone_ = true;  // nobody would notice
  if (Result<> set = board_.want(0, WantedWait::unpack(own)); !set) return set.error();
  return wicprof::refused_thread("toggles do not reach this runtime, which keeps the program's own way of waiting");
}

void ControlLoop::add_site(SiteId site, const std::string& name) {
  // Several processes may name the same sites: the control block identifies sites by name and has its own numbers for
  // them.
  const std::uint32_t number = wicprof::register_site(control(), name.c_str());
  sites_.with([&](auto& sites) { sites[site].number = number; });
  // Another process may have declared the site before, and a toggle may have requested a strategy there.
  if (number == 0) return;
  const auto wanted_now = [&] {
    return recorder_gone_ ? state(site).own : control().sites[number].wanted.load(std::memory_order_relaxed);
  };
  // Again where that has changed meanwhile: the member's thread may have looked before the board had it.
  std::uint32_t in_effect = WantedWait::kNothing;
  for (std::uint32_t wanted = wanted_now(); wanted != in_effect; wanted = wanted_now()) {
    const Result<> done =
        wanted == WantedWait::kNothing ? board_.follow_program(site) : board_.want(site, WantedWait::unpack(wanted));
    if (!done) return write_notice(wicprof::NoticeSeverity::error, "a toggle failed: " + done.error().message);
    in_effect = wanted;
  }
}

Result<> ControlLoop::request(SiteId site, WantedWait wanted) {
  wicprof::PartControl* const place = member_.place();
  const std::uint32_t number = state(site).number;
  if (place == nullptr || (site != 0 && number == 0)) {
    return unavailable("the session has no free slot for this runtime's toggles: it has too many processes or sites");
  }
  sites_.with([&](auto& sites) {
    if (site == 0) {
      for (SiteState& each : sites) each.own = WantedWait::kNothing;
    }
    sites[site].own = wanted.pack();
  });
  const std::uint32_t sequence = wicprof::request_wait(control(), number, wanted);
  if (!wicprof::wait_applied_by(control(), *place, sequence, kSecond)) {
    return unavailable("the change of strategy was not applied within a second");
  }
  if (board_.wanted(site).pack() != wanted.pack()) {
    return unavailable("the change of strategy failed; a notice in the trace gives the reason");
  }
  return ok();
}

wicprof::Applier::Site ControlLoop::site(std::size_t index) const {
  const auto id = static_cast<SiteId>(index + 1);
  return {id, state(id).number};
}

void ControlLoop::write(const wicprof::InterventionEvent& event) {
  trace_.write(event);
  if (static_cast<StrategyId>(event.new_strategy) != StrategyId::automatic) return;
  const SiteId first = event.site == 0 ? 1 : event.site;
  const SiteId last = event.site == 0 ? board_.site_count() : event.site;
  for (SiteId id = first; id <= last; ++id) trace_.write_choice(id, board_.choice(id));
}

}  // namespace wic
