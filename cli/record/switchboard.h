// Changes how a session's program waits. The schedule and the control socket both go through this class.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/control.h"
#include "protocol/control_messages.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

/// Functions may be called from any thread.
class Switchboard {
 public:
  /// `session` must outlive it.
  explicit Switchboard(const SessionMap& session) : session_(session), control_(session.control()) {}

  /// Sets the mode and strategy that the program starts with.
  void start_with(WantedWait wanted, WaitSide side = WaitSide::both);

  /// Requests a change for the whole program without waiting. Returns the sequence number for applied().
  std::uint32_t request(WantedWait wanted, WaitSide side = WaitSide::both);

  /// Requests a change and waits until every process that has a place has applied it. Errors: the program has no wic
  /// runtime, has no wait sites, does not know the site, ended, or did not apply the change within 2 s.
  Result<ToggleReply> toggle(const ToggleRequest& request);

  /// The mode and strategy requested for the whole program; before any request, the runtime's own choice.
  WantedWait wanted() const { return program_wait(control_); }
  bool applied(std::uint32_t sequence) const;
  /// When the last change that was applied took effect.
  TimeNs effective() const { return last_effective(control_); }
  std::vector<std::string> site_names() const;
  /// Whether a host thread has waited in a call of CUDA at a place that has its name by now.
  bool has_host_waits() const { return has_sites(WaitSide::host); }
  /// Whose waits a comparison is about unless somebody names a side: those at wait sites that the program declares or
  /// that were patched into its kernels; of a program without such sites, those of host threads in calls of CUDA.
  WaitSide side_with_waits() const { return has_sites(WaitSide::device) ? WaitSide::device : WaitSide::host; }
  /// Parts of processes that no toggle is known to reach: the session had no ring or no place for them.
  std::uint32_t unreached() const;

  /// Ends waiting toggles with an error; call when the program has ended.
  void close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  /// `side`: host, or else all other sites.
  bool has_sites(WaitSide side) const;
  bool is_of_host(std::uint32_t site) const;
  /// The names, for which a program that has just begun to wait is given time.
  std::vector<std::string> first_site_names() const;
  /// What a change of the site, or of the whole program for 0, replaces (ToggleReply::before).
  std::vector<WayOfWaiting> ways_before(std::uint32_t site, const ToggleRequest& request) const;

  const SessionMap& session_;
  ControlBlock& control_;
  std::mutex mutex_;  // request_wait() takes one caller at a time
  std::atomic<bool> closed_{false};
};

}  // namespace wicprof::cli
