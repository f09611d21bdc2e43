// The one place from which a session's way of waiting is changed: the schedule and the control socket both ask here.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "protocol/control.h"
#include "protocol/control_messages.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Any thread.
class Switchboard {
 public:
  explicit Switchboard(ControlBlock& control) : control_(control) {}

  /// What the program shall find when it starts.
  void start_with(WantedWait wanted) { control_.wanted.store(wanted.pack(), std::memory_order_release); }

  /// Asks for a change of the whole program and does not wait for it. Returns the sequence to wait for.
  std::uint32_t request(WantedWait wanted);

  /// Asks for a change and waits until the program has carried it out. Errors: no wic runtime or no wait sites in the
  /// program, an unknown site, no answer from the program.
  Result<ToggleReply> toggle(const ToggleRequest& request);

  /// What is wanted of the whole program; a runtime that was asked for nothing says its own way here.
  WantedWait wanted() const { return program_wait(control_); }
  bool applied(std::uint32_t sequence) const;
  std::vector<std::string> site_names() const;

  /// The program has ended: whoever waits for it stops waiting.
  void close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  ControlBlock& control_;
  std::mutex mutex_;  // request_wait() takes one caller at a time
  std::atomic<bool> closed_{false};
};

}  // namespace wicprof::cli
