// Whether a rule of --trigger holds, which makes a run write the last minutes as a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/record/iteration_meter.h"
#include "cli/record/trigger_rules.h"
#include "protocol/open_work.h"
#include "protocol/result.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

/// Decides when a dump is due, and says in it why. At most one is due at a time: what holds meanwhile counts as
/// suppressed, as does what holds within the pause after a dump.
class Triggers {
 public:
  /// `work` must outlive the object.
  Triggers(const TriggerPlan& plan, const OpenWork& work);
  Triggers(const Triggers&) = delete;

  /// Outside of it no rule holds. Call before the others.
  void set_window(TimeNs from, TimeNs until);

  /// One event that the program has written to that ring. The recorder's thread.
  void see(const store::Recorder& recorder, std::size_t ring, const EventHeader& event);
  /// Decides by what see() has noted, and by what waits. Costs little when called often. The recorder's thread.
  void look(TimeNs now);

  /// The user asks for a dump; the pause does not apply. Any thread. Error: nothing is recorded at `now`.
  Result<> request(const std::string& rule, const std::string& why, TimeNs now);
  /// The rule of a signal to wic-prof; empty: the signal is not a trigger.
  std::string rule_of(int signal) const;
  /// Nothing more is written to the current trace: the next one shall begin. The recorder's thread.
  void writing_stopped(const std::string& why, TimeNs now);

  /// Whether to write the dump now: a while after its rule held, so that what ran at that time has been reported. Any
  /// thread.
  bool due(TimeNs now) const;
  /// Writes into the trace's `meta` why it is one, and returns that in words. `otherwise`: where no rule has held.
  std::string describe(store::Recorder& trace, const std::string& otherwise, TimeNs now) const;
  /// The dump has been written.
  void written(TimeNs now);

  /// Collects sentences for the user, until the thread that shows the progress takes them. Any thread.
  void tell(const std::string& text);
  std::vector<std::string> take_news();

 private:
  struct Reason {
    std::string rule, why;
    TimeNs at = 0;
    TimeNs value = 0, limit = 0;  // 0: not about a length
  };

  void see_wait(const store::Recorder& recorder, std::size_t ring, SiteId site, TextId call, TimeNs length);
  void look_at_steps(TimeNs now);
  void look_at_progress(TimeNs now);
  // Both with the mutex.
  bool is_recorded(TimeNs now) const { return now >= from_ && now < until_; }
  bool is_paused(TimeNs now) const;
  void hold(const Reason& reason);

  const TriggerPlan plan_;
  const OpenWork& work_;

  // Of the recorder's thread.
  TimeNs next_look_ = 0;
  TimeNs shortest_wait_ = std::numeric_limits<TimeNs>::max();  // that a rule is about
  std::optional<Reason> longest_;                              // wait over a rule's limit since the last look
  bool knows_steps_ = false;                                   // a rule is about them
  IterationMeter meter_;
  std::string steps_of_;            // what the meter takes for steps
  std::vector<TimeNs> last_steps_;  // lengths, a ring
  std::size_t steps_ = 0;           // seen
  bool progressed_ = true, hang_held_ = false;
  TimeNs progress_at_ = 0;

  mutable std::mutex mutex_;  // guards the following
  TimeNs from_ = 0, until_ = std::numeric_limits<TimeNs>::max();
  std::optional<Reason> due_;
  TimeNs written_ = 0;  // the last dump; 0 = none
  std::uint64_t suppressed_ = 0;
  bool said_suppressed_ = false;
  std::vector<std::string> news_;
};

}  // namespace wicprof::cli
