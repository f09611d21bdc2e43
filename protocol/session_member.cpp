#include "protocol/session_member.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace wicprof {

SessionMember::SessionMember(ControlBlock& control, const void* session, Applier& applier)
    : control_(control), session_(session), applier_(applier), sites_(applier.most_sites(), WantedWait::kNothing) {}

std::string SessionMember::join() {
  sequence_ = control_.sequence.load(std::memory_order_acquire);
  const std::uint32_t wanted = wanted_of_program();
  program_ = applier_.now(0, WantedWait::unpack(wanted)).pack();
  // A toggle came after the part was brought there: the first look applies that.
  if (program_ != wanted) --sequence_;
  if (claim_place()) return {};
  const std::string refusal =
      "the session has no place for a further process (it has " + std::to_string(kMaxMembers) +
      "): wic-prof toggle does not wait until this one has followed; record fewer processes in one session";
  applier_.write_notice(NoticeSeverity::warning, refusal);
  return refusal;
}

bool SessionMember::claim_place() {
  PartControl* const place = join_session(control_, session_, sequence_);
  if (place == nullptr) {
    refuse();
    return false;
  }
  if (std::exchange(refused_, false)) control_.parts_refused.fetch_sub(1, std::memory_order_relaxed);
  place_.store(place, std::memory_order_release);
  return true;
}

void SessionMember::refuse() {
  if (!std::exchange(refused_, true)) control_.parts_refused.fetch_add(1, std::memory_order_relaxed);
  if (PartControl* const place = place_.exchange(nullptr)) leave_session(control_, *place);
}

void SessionMember::leave() {
  stop_ = true;
  if (thread_.joinable()) {
    // The thread may be about to sleep: one wake-up could come too early.
    while (!ended_) {
      futex_wake_all(control_.sequence);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    thread_.join();
  }
  if (PartControl* const place = place_.exchange(nullptr)) leave_session(control_, *place);
  if (std::exchange(refused_, false)) control_.parts_refused.fetch_sub(1, std::memory_order_relaxed);
}

void SessionMember::run() {
  TimeNs pause = applier_.between_looks();
  while (!stop_.load()) {
    futex_wait(control_.sequence, sequence_, pause);
    look();
    pause = applier_.between_looks();
  }
  ended_ = true;
}

void SessionMember::look() {
  if (refused_) claim_place();
  const std::uint32_t sequence = control_.sequence.load(std::memory_order_acquire);
  const bool gone = recorder_.gone(control_, now_ns());
  requested_ = control_.requested_ns.load(std::memory_order_relaxed);
  if (gone != gone_) {
    gone_ = gone;
    requested_ = now_ns();  // by nobody
    applier_.recorder_gone(gone);
  } else if (sequence == sequence_) {
    return;
  }
  apply_changes(sequence);
  sequence_ = sequence;
  if (PartControl* const place = this->place()) report_applied(control_, *place, sequence);
}

std::uint32_t SessionMember::wanted_of_program() const {
  const auto& wanted = applier_.side() == WaitSide::host ? control_.host_wanted : control_.wanted;
  const std::uint32_t word = gone_ ? WantedWait::kNothing : wanted.load(std::memory_order_relaxed);
  return applier_.way(word == WantedWait::kNothing ? applier_.own() : WantedWait::unpack(word)).pack();
}

std::uint32_t SessionMember::wanted_of(const Applier::Site& site) const {
  std::uint32_t word = WantedWait::kNothing;
  if (gone_) {
    word = applier_.own(site);
  } else if (site.number != 0) {
    word = control_.sites[site.number].wanted.load(std::memory_order_relaxed);
  }
  return word == WantedWait::kNothing ? word : applier_.way(WantedWait::unpack(word), site).pack();
}

void SessionMember::apply_changes(std::uint32_t sequence) {
  applier_.follow();
  const std::uint32_t program = wanted_of_program();
  const std::size_t count = std::min(applier_.sites_now(), sites_.size());
  bool site_cleared = false;
  for (std::size_t i = 0; i < count && !site_cleared; ++i) {
    const Applier::Site site = applier_.site(i);
    // Also one that was declared after a request for it, and has had that way since.
    const bool differs =
        sites_[i] != WantedWait::kNothing || applier_.now(site.id, WantedWait::unpack(program_)).pack() != program_;
    site_cleared = differs && wanted_of(site) == WantedWait::kNothing;
  }
  if (program != program_ || site_cleared) {
    change(0, applier_.now(0, WantedWait::unpack(program_)), WantedWait::unpack(program), sequence);
    program_ = program;
    std::fill(sites_.begin(), sites_.end(), WantedWait::kNothing);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Applier::Site site = applier_.site(i);
    const std::uint32_t wanted = wanted_of(site);
    if (wanted == sites_[i] || wanted == WantedWait::kNothing) continue;
    const std::uint32_t known = sites_[i] == WantedWait::kNothing ? program_ : sites_[i];
    sites_[i] = wanted;
    const WantedWait before = applier_.now(site.id, WantedWait::unpack(known)), after = WantedWait::unpack(wanted);
    // A site that was declared after the request may have it already.
    if (before.pack() != after.pack()) change(site.id, before, after, sequence);
  }
}

void SessionMember::change(SiteId site, WantedWait before, WantedWait after, std::uint32_t sequence) {
  if (const Result<> done = applier_.apply(site, after); !done) {
    return applier_.write_notice(NoticeSeverity::error, "a toggle failed: " + done.error().message);
  }
  auto event = make_event<InterventionEvent>();
  event.site = site;
  event.sequence = sequence;
  event.old_strategy = static_cast<std::uint32_t>(before.strategy);
  event.new_strategy = static_cast<std::uint32_t>(after.strategy);
  event.old_mode = static_cast<std::uint8_t>(before.mode);
  event.new_mode = static_cast<std::uint8_t>(after.mode);
  event.side = applier_.side();
  event.requested_ns = requested_;
  event.effective_ns = now_ns();
  applier_.write(event);
}

}  // namespace wicprof
