// How long a recording waits for another process that locks its trace.
#pragma once

#include <atomic>
#include <string>

#include "cli/record/terminal_signals.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// As long as the program runs, and then for a while: what the rings cannot hold meanwhile is counted as lost.
class TracePatience {
 public:
  TracePatience(std::string trace, TerminalSignals& signals);

  void program_ended();

  /// store::Writer::Patience. Says once per lock who holds it. Any thread, one at a time.
  bool goes_on(const std::string& holder, TimeNs waited);

 private:
  const std::string trace_;
  TerminalSignals& signals_;
  std::atomic<TimeNs> ended_{0};  // the program; 0 = it runs
  std::atomic<TimeNs> said_{0};   // the begin of the lock of which the user knows
  std::atomic<bool> over_{false};
};

}  // namespace wicprof::cli
