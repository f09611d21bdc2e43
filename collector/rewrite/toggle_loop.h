// The thread that brings patched loops to what the session wants, reports each change, and reads the waits that the
// loops record.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "collector/rewrite/patched_modules.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "protocol/session_member.h"

namespace wicprof::collector {

class ToggleLoop final : Applier {
 public:
  /// `control`: the session's; nullptr: nothing is ever wanted. `modules` must outlive it.
  ToggleLoop(ControlBlock* control, PatchedModules& modules) : control_(control), modules_(modules) {}

  /// Joins the session and starts the thread; once. Not within cuInit().
  void begin(const RewriteDriver& driver, EventSink& sink);
  void stop();

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

  ControlBlock* control_;
  PatchedModules& modules_;
  const RewriteDriver* driver_ = nullptr;
  EventSink* sink_ = nullptr;
  TimeNs next_clock_ = 0, next_counts_ = 0;  // of the thread
  std::mutex mutex_;                         // of begin() and stop()
  bool stopped_ = false;
  std::optional<SessionMember> member_;  // the last: its thread uses the others
};

}  // namespace wicprof::collector
