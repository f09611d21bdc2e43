#include "collector/waits/experience.h"

#include "protocol/events/choice.h"

namespace wicprof::collector {

namespace {

/// Earlier waits at a place before it counts as uncertain: twice as many as its first guess takes to fade. After as
/// many waits of a thread at such places it is decided whether the launches are watched. Not calibrated.
constexpr std::uint32_t kWaitsToJudge = 32;
/// Waits after which the cost of watching launches is weighed. Not calibrated.
constexpr std::uint32_t kWaitsToWeigh = 8;
/// Below one uncertain wait in so many, watching every launch costs more than it saves. Not calibrated.
constexpr std::uint32_t kFewUncertain = 8;

}  // namespace

void Learning::learn_past(Experience& known, EventSink& sink) {
  if (!known.past) return;
  const PastWait past = *known.past;
  known.past.reset();
  const ThreadWait& wait = past.wait;
  const TimeNs end = wait.last_end;
  known.predictor.observe(wait.place.site, past.work, wait.begin, end);
  if (wait.use.run_delay >= 0) known.contention.wait_ended(wait.use.run_delay);
  weigh(known, end);
  judge(known, wait, past.work.key != 0);
  if (wait.place.site == 0 || !wait.forecast) return;
  // A place's way is a choice of the trace. Only changes are written, so the table of them stays small.
  const std::uint32_t place = wait.place.site - WaitSites::kFirst;
  const auto way = static_cast<std::uint8_t>(wait.way);
  if (ways_[place].exchange(way, std::memory_order_relaxed) == way) return;
  if (choices_[place].fetch_add(1, std::memory_order_relaxed) >= kMostChoices) return;
  auto event = make_event<ChoiceEvent>();
  event.site = wait.place.site;
  event.strategy = static_cast<std::uint32_t>(StrategyId::hybrid);
  event.at_ns = end;
  event.reason = sink.text(reason_of(wait.way, *wait.forecast, control_.costs()));
  event.waits = wait.forecast->waits;
  event.median_wait_ns = wait.forecast->left;
  event.look_ns = -1;
  sink.write_or_hold(event);
}

void Learning::weigh(Experience& known, TimeNs end) {
  auto& weighed = known.weighed;
  if (weighed.begin != 0 && ++weighed.waits < kWaitsToWeigh) return;
  const auto launches = static_cast<TimeNs>(known.launches - weighed.launches);
  if (weighed.begin != 0 && launches * kWatchedLaunch > (end - weighed.begin) / 100) control_.refuse_launches();
  weighed = {0, known.launches, end};
}

void Learning::judge(Experience& known, const ThreadWait& wait, bool watched) {
  if (!wait.forecast || wait.forecast->waits < kWaitsToJudge || wait.forecast->left < kWorthWatching) return;
  const bool uncertain = wait.way == HybridWay::naps;
  known.uncertain += uncertain ? 1 : 0;
  if (++known.judged < kWaitsToJudge) return;
  if (watched) {
    known.uncertain * 2 < known.judged ? control_.need_launches() : control_.give_up_launches();
  } else if (known.uncertain * kFewUncertain >= known.judged) {
    control_.want_launches();
  }
  known.judged = known.uncertain = 0;
}

}  // namespace wicprof::collector
