// Brings the runtime to the state that the session's control block requests, and writes each change to the trace.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "protocol/control.h"
#include "src/runtime/guarded.h"
#include "src/runtime/trace_link.h"
#include "src/strategy/strategy_board.h"

namespace wic {

/// Only where the trace is attached.
class ControlLoop {
 public:
  ControlLoop(StrategyBoard& board, TraceLink& trace) : board_(board), trace_(trace) {}
  ControlLoop(const ControlLoop&) = delete;
  ~ControlLoop();  ///< ends the thread; the session then no longer counts this runtime

  /// Applies the strategy that the session requests already, joins the session, starts the thread. Returns a warning
  /// where the session has no free slot for this runtime, else an empty text. Error: the devices did not take the
  /// strategy.
  Result<std::string> start();

  /// Registers a site of the board by its name, and applies the strategy that the session requests there. Any thread.
  void add_site(SiteId site, const std::string& name);
  /// Requests `wanted` through the control block, as `wic-prof toggle` does, and waits until this runtime has applied
  /// it. Site 0 is all sites. Any thread but the loop's own.
  Result<> request(SiteId site, WantedWait wanted);

 private:
  using SiteWords = std::array<std::uint32_t, kMaxSites>;

  // The state of the control block that was applied last. Local to the thread.
  struct Applied {
    std::uint32_t sequence = 0;
    SiteWords sites{};  // WantedWait::pack() per site
  };

  void run(Applied applied);
  void apply_news(Applied& applied);
  void change(SiteId site, std::uint32_t wanted_word, std::uint32_t sequence, TimeNs requested);
  void report_failure(const wicprof::Error& error);
  SiteWords wanted_sites();
  wicprof::ControlBlock& control() const { return trace_.session().control(); }

  StrategyBoard& board_;
  TraceLink& trace_;
  wicprof::RuntimeControl* place_ = nullptr;  // in the control block; written by start() alone
  Guarded<SiteWords> numbers_;                // the control block's number of each site, 0 = none
  std::atomic<bool> stop_{false}, ended_{false};
  std::thread thread_;
};

}  // namespace wic
