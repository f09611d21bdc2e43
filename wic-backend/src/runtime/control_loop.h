// Brings the runtime to the state that the session's control block requests, and writes each change to the trace.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "protocol/control.h"
#include "protocol/session_member.h"
#include "src/runtime/guarded.h"
#include "src/runtime/trace_link.h"
#include "src/strategy/strategy_board.h"

namespace wic {

/// Only where the trace is attached. Its end leaves the session.
class ControlLoop final : wicprof::Applier {
 public:
  ControlLoop(StrategyBoard& board, TraceLink& trace)
      : board_(board), trace_(trace), member_(control(), &trace.session().header(), *this) {}

  /// Applies the strategy that the session requests already, joins the session, starts the thread. Returns a warning
  /// where the session has no place for this process, or the system no thread, else an empty text. Error: the devices
  /// did not take the strategy.
  Result<std::string> start();

  /// Registers a site of the board by its name, and applies the strategy that the session requests there. Any thread.
  void add_site(SiteId site, const std::string& name);
  /// Requests `wanted` through the control block, as `wic-prof toggle` does, and waits until this runtime has applied
  /// it. Site 0 is all sites. Any thread but the loop's own.
  Result<> request(SiteId site, WantedWait wanted);

 private:
  // Site 0: the whole program.
  struct SiteState {
    std::uint32_t number = 0;                  // in the control block; 0: none
    std::uint32_t own = WantedWait::kNothing;  // WantedWait::pack(), as the program itself requested it
  };

  wicprof::WaitSide side() const override { return wicprof::WaitSide::both; }
  std::size_t most_sites() const override { return kMaxSites - 1; }
  std::size_t sites_now() const override { return kMaxSites - 1; }
  Site site(std::size_t index) const override;
  WantedWait own() const override { return WantedWait::unpack(state(0).own); }
  std::uint32_t own(const Site& site) const override { return state(site.id).own; }
  WantedWait now(SiteId site, WantedWait) const override { return board_.wanted(site); }
  void recorder_gone(bool gone) override { recorder_gone_ = gone; }
  Result<> apply(SiteId site, WantedWait way) override { return board_.want(site, way); }
  void write(const wicprof::InterventionEvent& event) override;
  void write_notice(wicprof::NoticeSeverity severity, const std::string& text) override {
    trace_.write_notice(severity, text);
  }

  SiteState state(SiteId site) const {
    return sites_.with([&](const auto& sites) { return sites[site]; });
  }
  wicprof::ControlBlock& control() const { return trace_.session().control(); }

  StrategyBoard& board_;
  TraceLink& trace_;
  mutable Guarded<std::array<SiteState, kMaxSites>> sites_;
  std::atomic<bool> recorder_gone_{false};
  wicprof::SessionMember member_;  // the last: its thread uses the others
};

}  // namespace wic
