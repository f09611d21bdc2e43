// What `hybrid` learns from the waits of one thread, and what it writes of that to the trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "collector/waits/host_control.h"
#include "collector/waits/predictor.h"
#include "collector/waits/thread_wait.h"
#include "collector/waits/wait_plan.h"
#include "collector/waits/wait_sites.h"
#include "protocol/event_sink.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// A wait that ended, from which `hybrid` has not learned yet.
struct PastWait {
  ThreadWait wait;
  AwaitedWork work;
};

/// What `hybrid` knows on one thread. Outlives the wait.
struct Experience {
  AwaitedWork work;  // launched since the last wait
  Predictor predictor;
  SleepLateness sleeps;
  Contention contention;
  TimeNs computing = -1;  // between waits in which it sleeps, recently; -1: not known
  std::optional<PastWait> past;
  // Of the waits that decide about watching launches.
  std::uint32_t judged = 0, uncertain = 0;
  // What watching launches costs: those of some waits in a row.
  std::uint64_t launches = 0;  // watched
  struct {
    std::uint32_t waits = 0;
    std::uint64_t launches = 0;  // before the first of the waits
    TimeNs begin = 0;
  } weighed;
  // The last place whose waits are too short to sleep in, and how many more waits there need no new forecast.
  SiteId short_place = 0;
  std::uint32_t short_waits = 0;
  Forecast short_forecast;
};

inline constexpr TimeNs kRecentComputing = 8;  // waits, about

/// Watching launches costs so much for each: short kernels took 3 us longer on an H200.
inline constexpr TimeNs kWatchedLaunch = 3 * kMicrosecond;
/// With one launch each, waits longer than this become less than one percent longer.
inline constexpr TimeNs kWorthWatching = 100 * kWatchedLaunch;

/// Too short to sleep in, by far.
inline bool is_short(TimeNs length) { return length < kWorthWatching / 2; }

/// Any thread, each with its own experience.
class Learning {
 public:
  explicit Learning(HostControl& control) : control_(control) {}
  Learning(const Learning&) = delete;
  Learning& operator=(const Learning&) = delete;

  /// From the thread's last wait. At the next one, because then the thread waits anyway.
  void learn_past(Experience& known, EventSink& sink);

 private:
  /// Refuses the launches where watching them takes more than one percent of the thread's time.
  void weigh(Experience& known, TimeNs end);
  /// Whether launches are to be watched.
  void judge(Experience& known, const ThreadWait& wait, bool watched);

  /// Changes of a place's way beyond this are not written: where lengths lie at the border of two ways, each wait may
  /// change it.
  static constexpr std::uint32_t kMostChoices = 16;

  HostControl& control_;
  std::atomic<std::uint8_t> ways_[WaitSites::kMost] = {};
  std::atomic<std::uint32_t> choices_[WaitSites::kMost] = {};
};

}  // namespace wicprof::collector
