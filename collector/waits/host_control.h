// What the session wants of host threads that wait in calls of CUDA, and the thread that reports each change as
// applied.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "collector/waits/wait_plan.h"
#include "collector/waits/wait_sites.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "protocol/session_member.h"

namespace wicprof::collector {

/// One per process. Waiting threads read the session's words themselves, so that a change is in effect as soon as the
/// tool has written it: for the next wait, and for a wait in which wic-prof sleeps, which the change wakes.
class HostControl final : Applier {
 public:
  /// `control`: the session's; nullptr: nothing is ever wanted. `sites` must outlive it.
  HostControl(ControlBlock* control, const WaitSites& sites) : control_(control), wait_sites_(sites) {}
  HostControl(const HostControl&) = delete;
  HostControl& operator=(const HostControl&) = delete;

  /// `of_hybrid`: called with true once want_launches() was called while `hybrid` may be in force, and with false when
  /// it no longer is. On the control's thread, within 200 ms.
  void on_hybrid(std::function<void(bool)> of_hybrid) { of_hybrid_ = std::move(of_hybrid); }

  /// Joins the session and starts the thread. Any thread, any number of times, but not within cuInit().
  void begin(EventSink& sink) {
    if (!begun_.load(std::memory_order_acquire)) begin_once(sink);
  }

  /// Ends the thread and all waiting of ours. Further calls do nothing.
  void stop();
  /// The same, and at once: threads that sleep in a call's place go on.
  void let_go();

  /// How to wait at a site now: `poll` is the program's own way.
  StrategyId wanted(std::uint32_t session_number) const {
    if (control_ == nullptr || own_way()) return StrategyId::poll;
    std::uint32_t word = 0;
    if (session_number != 0) word = control_->sites[session_number].wanted.load(std::memory_order_relaxed);
    if (word == WantedWait::kNothing) word = control_->host_wanted.load(std::memory_order_relaxed);
    return host_strategy(word);
  }

  StrategyId wanted_at(SiteId site) const { return wanted(wait_sites_.session_number(site)); }

  /// The futex that every change of what is wanted wakes.
  std::uint32_t sequence() const { return control_->sequence.load(std::memory_order_acquire); }
  void sleep(std::uint32_t sequence, TimeNs time) const { futex_wait(control_->sequence, sequence, time); }
  /// Ends the sleeps of this process's waits; those of others of the session look and sleep on.
  void wake() const { futex_wake_all(control_->sequence); }

  /// Without the launches, too few lengths of waits can be foretold: `of_hybrid` may be called with true. Before that,
  /// `hybrid` knows nothing of launches, whose callbacks cost a short kernel more than sleeping saves.
  void want_launches() { change_launches(Launches::unasked, Launches::wanted); }
  /// With the launches, most lengths of waits can be foretold.
  void need_launches() { change_launches(Launches::wanted, Launches::needed); }
  /// With the launches, too few can be foretold as well: `of_hybrid` is called with false, and never again with true,
  /// unless somebody needs the launches.
  void give_up_launches() { change_launches(Launches::wanted, Launches::given_up); }
  /// The launches cost a thread more than they can save: `of_hybrid` is never again called with true.
  void refuse_launches() { launches_.store(Launches::given_up, std::memory_order_relaxed); }

  SleepCosts costs() const { return {wake_.load(std::memory_order_relaxed), late_.load(std::memory_order_relaxed)}; }

 private:
  enum class Launches : std::uint8_t { unasked, wanted, needed, given_up };
  void change_launches(Launches from, Launches to) {
    if (launches_.load(std::memory_order_relaxed) == from) launches_.compare_exchange_strong(from, to);
  }

  void begin_once(EventSink& sink);
  void look_anew();
  bool own_way() const {
    return stopped_.load(std::memory_order_relaxed) || recorder_gone_.load(std::memory_order_relaxed);
  }
  void follow_hybrid();

  WaitSide side() const override { return WaitSide::host; }
  std::size_t most_sites() const override { return WaitSites::kMost; }
  std::size_t sites_now() const override { return WaitSites::kMost; }
  Site site(std::size_t index) const override;
  WantedWait way(WantedWait wanted) const override { return host_part(wanted); }
  void recorder_gone(bool gone) override;
  void write(const InterventionEvent& event) override { sink_->write_or_hold(event); }
  void write_notice(NoticeSeverity severity, const std::string& text) override;
  TimeNs between_looks() override;

  ControlBlock* control_;
  const WaitSites& wait_sites_;
  std::function<void(bool)> of_hybrid_;
  EventSink* sink_ = nullptr;
  std::optional<SessionMember> member_;
  std::mutex mutex_;  // of begin_once() and stop()
  std::atomic<bool> begun_{false}, stopped_{false}, recorder_gone_{false};
  std::atomic<Launches> launches_{Launches::unasked};
  std::atomic<TimeNs> wake_{SleepCosts{}.wake}, late_{SleepCosts{}.late};
  bool hybrid_ = false;  // of the thread
};

/// What sleeps cost on this machine now: the median of short ones, and the 95th percentile of short and of long ones,
/// from which a CPU in a deeper state of rest wakes later. Takes about 50 ms.
SleepCosts measure_sleeps();

/// Timer slack of the calling thread at its least for the object's lifetime: by default Linux ends a sleep up to 50 us
/// late.
class ExactSleeps {
 public:
  ExactSleeps();
  ~ExactSleeps();
  ExactSleeps(const ExactSleeps&) = delete;
  ExactSleeps& operator=(const ExactSleeps&) = delete;

 private:
  int before_;
};

}  // namespace wicprof::collector
