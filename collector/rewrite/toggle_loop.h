// The threads of patched loops. One brings them to what the session wants, reports each change, and reads the waits
// that they record; it never calls the driver, which may hold a call until a kernel ends. The other one does what needs
// the driver.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "collector/program/periodic_thread.h"
#include "collector/rewrite/patched_modules.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "protocol/session_member.h"

namespace wicprof::collector {

class ToggleLoop final : Applier {
 public:
  /// `control`: the session's; nullptr: nothing is ever wanted. `modules` must outlive it.
  ToggleLoop(ControlBlock* control, PatchedModules& modules) : control_(control), modules_(modules) {}
  ~ToggleLoop() { stop(); }
  ToggleLoop(const ToggleLoop&) = delete;
  ToggleLoop& operator=(const ToggleLoop&) = delete;

  /// Joins the session and starts the threads; once. Not within cuInit().
  void begin(const RewriteDriver& driver, EventSink& sink);
  /// Waits for a thread that the driver holds no longer than kDriverPatience: it goes on then, once it can, and the
  /// loop must outlive it. False: the driver holds it.
  bool stop();
  static constexpr std::chrono::milliseconds kDriverPatience{2000};

 private:
  WaitSide side() const override { return WaitSide::device; }
  std::size_t most_sites() const override { return PatchedModules::kMostSites; }
  std::size_t sites_now() const override { return modules_.site_count(); }
  Site site(std::size_t index) const override;
  WantedWait way(WantedWait wanted) const override;
  WantedWait way(WantedWait wanted, const Site& site) const override;
  void recorder_gone(bool gone) override { modules_.recorder_gone(gone); }
  void follow() override { modules_.follow_session(); }
  void write(const InterventionEvent& event) override { sink_->write_or_hold(event); }
  void write_notice(NoticeSeverity severity, const std::string& text) override;
  TimeNs between_looks() override;
  void use_driver();

  ControlBlock* control_;
  PatchedModules& modules_;
  const RewriteDriver* driver_ = nullptr;
  EventSink* sink_ = nullptr;
  TimeNs next_clock_ = 0, next_counts_ = 0;  // of the driver's thread
  std::atomic<bool> reads_waits_{false};
  std::mutex mutex_;  // of begin() and stop()
  bool stopped_ = false;
  PeriodicThread driver_thread_;
  std::optional<SessionMember> member_;  // the last: its thread uses the others
};

}  // namespace wicprof::collector
