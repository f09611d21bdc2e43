#include "src/runtime/control_loop.h"

#include <chrono>

#include "src/device/own_thread.h"

namespace wic {

namespace {

constexpr TimeNs kCheckInterval = 200 * kMillisecond;

std::uint32_t wanted_word(const wicprof::ControlBlock& control, std::uint32_t number) {
  return number == 0 ? WantedWait::kNothing : control.sites[number].wanted.load(std::memory_order_relaxed);
}

}  // namespace

ControlLoop::~ControlLoop() {
  stop_ = true;
  if (thread_.joinable()) {
    // The thread may be about to sleep: one wake-up could come too early.
    while (!ended_.load()) {
      wicprof::futex_wake_all(control().sequence);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    thread_.join();
  }
  if (place_ != nullptr) wicprof::leave_runtime(control(), *place_);
}

Result<std::string> ControlLoop::start() {
  Applied applied;
  applied.sequence = control().sequence.load(std::memory_order_acquire);
  if (const std::uint32_t wanted = control().wanted.load(std::memory_order_relaxed); wanted != WantedWait::kNothing) {
    if (Result<> set = board_.want(0, WantedWait::unpack(wanted)); !set) return set.error();
  } else {
    control().own.store(board_.wanted(0).pack(), std::memory_order_relaxed);  // `wic-prof sessions` shows it
  }
  place_ = wicprof::join_runtime(control(), &trace_.session().header(), applied.sequence);
  if (place_ == nullptr) {
    return "the session has " + std::to_string(wicprof::kMaxRuntimes) +
           " wic runtimes already; toggles do not reach this one";
  }
  thread_ = std::thread([this, applied] { run(applied); });
  return std::string();
}

void ControlLoop::add_site(SiteId site, const std::string& name) {
  // Several processes may name the same sites: the control block identifies sites by name and has its own numbers for
  // them.
  const std::uint32_t number = wicprof::register_site(control(), name.c_str());
  numbers_.with([&](SiteWords& numbers) { numbers[site] = number; });
  // Another process may have declared the site before, and a toggle may have requested a strategy there.
  const std::uint32_t wanted = wanted_word(control(), number);
  if (wanted == WantedWait::kNothing) return;
  if (Result<> done = board_.want(site, WantedWait::unpack(wanted)); !done) report_failure(done.error());
}

Result<> ControlLoop::request(SiteId site, WantedWait wanted) {
  const std::uint32_t number = numbers_.with([&](const SiteWords& numbers) { return numbers[site]; });
  if (place_ == nullptr || (site != 0 && number == 0)) {
    return unavailable("the session has no free slot for this runtime's toggles: it has too many runtimes or sites");
  }
  const std::uint32_t sequence = wicprof::request_wait(control(), number, wanted);
  if (!wicprof::wait_applied_by(control(), *place_, sequence, kSecond)) {
    return unavailable("the change of strategy was not applied within a second");
  }
  if (board_.wanted(site).pack() != wanted.pack()) {
    return unavailable("the change of strategy failed; a notice in the trace gives the reason");
  }
  return ok();
}

void ControlLoop::run(Applied applied) {
  enter_own_thread("wic-control");
  while (!stop_.load()) {
    wicprof::futex_wait(control().sequence, applied.sequence, kCheckInterval);
    apply_news(applied);
  }
  ended_ = true;
}

void ControlLoop::apply_news(Applied& applied) {
  const std::uint32_t sequence = control().sequence.load(std::memory_order_acquire);
  if (sequence == applied.sequence) return;
  const TimeNs requested = control().requested_ns.load(std::memory_order_relaxed);
  const std::uint32_t program = control().wanted.load(std::memory_order_relaxed);
  const SiteWords wanted = wanted_sites();
  bool site_cleared = false;
  for (SiteId site = 1; site < kMaxSites; ++site) {
    site_cleared |= applied.sites[site] != WantedWait::kNothing && wanted[site] == WantedWait::kNothing;
  }
  if (program != WantedWait::kNothing && (program != board_.wanted(0).pack() || site_cleared)) {
    applied.sites.fill(WantedWait::kNothing);
    change(0, program, sequence, requested);
  }
  for (SiteId site = 1; site < kMaxSites; ++site) {
    if (wanted[site] == applied.sites[site] || wanted[site] == WantedWait::kNothing) continue;
    applied.sites[site] = wanted[site];
    change(site, wanted[site], sequence, requested);
  }
  applied.sequence = sequence;
  wicprof::report_applied(control(), *place_, sequence);
}

ControlLoop::SiteWords ControlLoop::wanted_sites() {
  SiteWords wanted = numbers_.with([](const SiteWords& numbers) { return numbers; });
  for (std::uint32_t& word : wanted) word = wanted_word(control(), word);
  return wanted;
}

void ControlLoop::report_failure(const wicprof::Error& error) {
  trace_.write_notice(wicprof::NoticeSeverity::error, "a toggle failed: " + error.message);
}

void ControlLoop::change(SiteId site, std::uint32_t word, std::uint32_t sequence, TimeNs requested) {
  const WantedWait old = board_.wanted(site);
  const WantedWait wanted = WantedWait::unpack(word);
  if (Result<> done = board_.want(site, wanted); !done) return report_failure(done.error());
  if (site != 0 && old.pack() == wanted.pack()) return;  // the site was declared after the request, and has it already
  auto e = wicprof::make_event<wicprof::InterventionEvent>();
  e.site = site;
  e.sequence = sequence;
  e.old_strategy = static_cast<std::uint32_t>(old.strategy);
  e.new_strategy = static_cast<std::uint32_t>(wanted.strategy);
  e.old_mode = static_cast<std::uint8_t>(old.mode);
  e.new_mode = static_cast<std::uint8_t>(wanted.mode);
  e.requested_ns = requested;
  e.effective_ns = now_ns();
  trace_.write(e);
  if (wanted.strategy != StrategyId::automatic) return;
  const SiteId first = site == 0 ? 1 : site;
  const SiteId last = site == 0 ? board_.site_count() : site;
  for (SiteId id = first; id <= last; ++id) trace_.write_choice(id, board_.choice(id));
}

}  // namespace wic
