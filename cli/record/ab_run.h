// The comparison of both modes in a running program: follows the schedule of ab_schedule.h and switches the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "cli/record/ab_schedule.h"
#include "cli/record/iteration_meter.h"
#include "cli/record/switchboard.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// One comparison per run: the trace can hold one.
class AbRun {
 public:
  /// `program`: a process with the program's CPU quota.
  AbRun(Switchboard& switchboard, IterationMeter& meter, pid_t program)
      : switchboard_(switchboard), meter_(meter), program_(program) {}

  /// Looks for the program's quota itself. Any thread. Error: one runs already, or has run.
  Result<> begin(AbPlan plan);

  /// Does what is due. `attached`: when the program's wic runtime attached; 0 = not yet. Returns a sentence for the
  /// user when the side is chosen, and when the comparison ends or fails. The supervising thread.
  std::optional<std::string> follow(TimeNs now, TimeNs attached);
  /// The program has ended. The supervising thread.
  void program_ended(TimeNs now);

  /// Any thread.
  bool running() const;
  std::string doing() const;  ///< for people; empty before begin()
  /// Whether the program is to be ended now. The supervising thread.
  bool ends_program() const;
  /// Empty without a comparison. Once the program has ended.
  std::map<store::MetaKey, std::string> meta() const;

 private:
  Switchboard& switchboard_;
  IterationMeter& meter_;
  const pid_t program_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<AbSchedule> schedule_;
  std::optional<WaitSide> side_;           // whose waits change; empty: not chosen yet
  std::optional<std::uint32_t> sequence_;  // of the change under way
  TimeNs requested_ = 0;
  bool late_ = false;  // it has taken longer than it may
};

}  // namespace wicprof::cli
