// What the user sees and can do while the recorder completes the trace.
#pragma once

#include <functional>
#include <optional>

#include "cli/record/terminal_signals.h"
#include "protocol/time.h"
#include "store/write/finish_watch.h"

namespace wicprof::cli {

/// Shows the progress, and gives up what takes too long or what the user does not want to wait for. The rows are
/// complete before this begins: only what is derived from them can be missing. One thread.
class Finishing {
 public:
  /// `recorded`: how long the recording took. `quiet`: shows no progress. `clock`: replaced by tests.
  Finishing(TerminalSignals& signals, TimeNs recorded, bool quiet, std::function<TimeNs()> clock = now_ns);
  ~Finishing();

  /// A store::FinishWatch.
  bool goes_on(store::FinishStep step, std::optional<double> part);

 private:
  void show(store::FinishStep step, std::optional<double> part, TimeNs now);
  void clear();

  TerminalSignals& signals_;
  const std::function<TimeNs()> clock_;
  const TimeNs begin_, deadline_;
  const bool on_terminal_, quiet_;
  TimeNs shown_at_;
  bool shown_ = false;
  int interruptions_ = 0;
  bool said_late_ = false;
};

}  // namespace wicprof::cli
