#include "cli/record/auto_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyzer/measure/unit_ratio.h"
#include "analyzer/measure/warm_up.h"
#include "analyzer/words/format.h"

namespace wicprof::cli {

namespace {

// Not calibrated, as those of the header.
constexpr TimeNs kShortestObservation = kSecond;
constexpr TimeNs kLongestObservation = 15 * kSecond;  ///< a program that is not steady by then is tried as it is
constexpr std::size_t kFewestUnits = 8;
constexpr std::size_t kManyUnits = 1024;        ///< of a stretch, in which the next one ends at once
constexpr TimeNs kWindow = 500 * kMillisecond;  ///< of parked waiting that is looked at by itself
constexpr TimeNs kLongestPhase = 2500 * kMillisecond;
constexpr TimeNs kPhaseTimeout = 10 * kSecond;
/// A parked phase lasts at most so many times a polled one, or the time. A shorter limit would cut long units alone.
constexpr int kParkedTimeout = 20;
constexpr TimeNs kShortestTimeout = kSecond;
constexpr std::size_t kTailUnits = 1000;    ///< of each mode, before the tails are compared; ten are above the p99
constexpr std::size_t kFewTailUnits = 300;  ///< ... where more would take too long
constexpr std::size_t kFewPolled = 100;
constexpr TimeNs kTailTime = 25 * kSecond;
/// A control block shows whether to look closer, and decides nothing.
constexpr TimeNs kShortestControl = 10 * kMillisecond;
constexpr std::size_t kControlBlockUnits = 2;  ///< of each mode
constexpr std::size_t kWatchedUnits = 2000;    ///< for the tails while parking is kept
constexpr double kTailChance = 0.005;          ///< of a measurement that gives up for the tail
constexpr double kTailSuspicion = 0.001;
constexpr std::size_t kFewestAlike = 3;  ///< blocks that all say the same, before there is an interval
constexpr double kMuchSlower = 1.5;      ///< ... of a trial
constexpr double kSlower = 1.02;         ///< ... of a check
constexpr std::size_t kMostControls = 2;
constexpr double kOtherLevel = 1.1;  ///< a program whose time per unit differs so much does something else
constexpr unsigned kWindowsOfChange = 3;

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TimeNs time_of_log(const std::vector<double>& logs) { return logs.empty() ? 0 : std::llround(std::exp(mean_of(logs))); }

bool all_below(const std::vector<double>& values, double limit) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value < limit; });
}

void keep_latest(std::vector<TimeNs>& units, const std::vector<TimeNs>& more) {
  units.insert(units.end(), more.begin(), more.end());
  if (units.size() > kWatchedUnits) units.erase(units.begin(), units.end() - kWatchedUnits);
}

}  // namespace

AutoRule::AutoRule(const Plan& plan) : plan_(plan), random_(plan.seed) {
  length_.quota_period = plan.quota_period;
  length_.longest = kLongestPhase;
  length_.timeout = kPhaseTimeout;
}

std::string AutoRule::doing() const {
  switch (state_) {
    case State::observe:
      return "does not park yet";
    case State::trial:
      return "tries parking of";
    case State::keep:
    case State::control:
      return "keeps parking of";
    case State::check:
      return "checks parking of";
    case State::pause:
      break;
  }
  return "does not park";
}

std::vector<AutoDecision> AutoRule::take_decisions() { return std::exchange(decisions_, {}); }

void AutoRule::switched(TimeNs effective) {
  requested_ = false;
  since_ = heard_ = effective;
  seen_ = 0;
}

std::optional<Mode> AutoRule::look(TimeNs now, const std::vector<TimeNs>& units) {
  if (begun_ == 0) begun_ = since_ = heard_ = now;
  if (requested_) return std::nullopt;
  unit_ended_ = units.size() != seen_ || units.size() >= kManyUnits;
  seen_ = units.size();
  std::optional<Mode> next;
  switch (state_) {
    case State::observe:
      next = observe(now, units);
      break;
    case State::trial:
    case State::control:
    case State::check:
      next = measure(now, units);
      break;
    case State::keep:
      next = watch_kept(now, units);
      break;
    case State::pause:
      next = watch_pause(now, units);
      break;
  }
  requested_ = next.has_value();
  return next;
}

std::optional<Mode> AutoRule::observe(TimeNs now, const std::vector<TimeNs>& units) {
  if (now - since_ < std::max(kShortestObservation, length_.shortest()) || units.size() < kFewestUnits)
    return std::nullopt;
  std::vector<double> logs;
  for (const TimeNs unit : units) logs.push_back(std::log(static_cast<double>(std::max<TimeNs>(1, unit))));
  const bool steady = analyzer::is_steady(logs);
  if (!steady && now - since_ < kLongestObservation) return std::nullopt;
  const Mode first = begin_measuring(State::trial, now);
  decide(now, DecisionKind::trial, steady ? "its units of work are steady" : "its units of work do not become steady");
  return first;
}

Mode AutoRule::begin_measuring(State state, TimeNs now) {
  state_ = state;
  figures_ = AutoFigures(now);
  first_.reset();
  warms_up_ = state == State::trial;
  tail_wanted_ = kTailUnits;
  if (state == State::trial) ++trials_;
  return warms_up_ ? mode_ = Mode::park : *next_phase();
}

std::optional<Mode> AutoRule::next_phase() {
  mode_ =
      first_ ? (first_->mode == Mode::poll ? Mode::park : Mode::poll) : (random_() % 2 == 0 ? Mode::poll : Mode::park);
  return mode_;
}

AutoPhase AutoRule::phase_of(TimeNs now, const std::vector<TimeNs>& units) const {
  const std::size_t fewest = state_ == State::control ? kControlBlockUnits : analyzer::kFewestInSegment;
  AutoPhase phase{mode_, now - since_, 0, units.size() < fewest, units};
  const double time =
      phase.cut ? static_cast<double>(phase.length) / static_cast<double>(units.size() + 1) : length_.time_of(units);
  phase.log_time = std::log(std::max(2.0, time));
  return phase;
}

std::optional<Mode> AutoRule::measure(TimeNs now, const std::vector<TimeNs>& units) {
  PhaseLength length = state_ == State::control ? control_length() : length_;
  if (mode_ == Mode::park && polled_phase_ > 0)
    length.timeout = std::min(kPhaseTimeout, std::max(kShortestTimeout, kParkedTimeout * polled_phase_));
  // A phase ends when a unit does: it would cut long units more often than short ones, and tails would look shorter.
  if (!unit_ended_ && now - since_ < length.timeout) return std::nullopt;
  if (!length.is_reached(now - since_, units.size())) return std::nullopt;
  if (std::exchange(warms_up_, false)) return next_phase();
  AutoPhase phase = phase_of(now, units);
  if (mode_ == Mode::poll) polled_phase_ = phase.length;
  if (!first_) {
    first_ = std::move(phase);
    return next_phase();
  }
  figures_.add(*first_, phase);
  count_cost(*first_, phase);
  first_.reset();
  if (state_ == State::trial) return judge_trial(now);
  return state_ == State::control ? judge_control(now) : judge_check(now);
}

/// Signed, so that noise cancels out.
void AutoRule::count_cost(const AutoPhase& one, const AutoPhase& other) {
  if (state_ != State::trial) return;
  const AutoPhase& polled = one.mode == Mode::poll ? one : other;
  const AutoPhase& parked = one.mode == Mode::poll ? other : one;
  if (polled.cut) return;
  cost_ns_ += static_cast<double>(parked.length) * (1 - std::exp(polled.log_time - parked.log_time));
}

PhaseLength AutoRule::control_length() const {
  PhaseLength length = length_;
  length.least = kShortestControl;
  length.units = kControlBlockUnits;
  return length;
}

double AutoRule::miss() const {
  return state_ == State::trial ? kMiss / static_cast<double>(trials_) / static_cast<double>(trials_ + 1) : kMiss;
}

TimeNs AutoRule::allowance(TimeNs now) const {
  return kTrialAllowance + std::llround(kTrialShare * static_cast<double>(now - begun_));
}

std::optional<Mode> AutoRule::judge_trial(TimeNs now) {
  const std::optional<analyzer::Speedup> ratio = figures_.ratio(miss());
  const std::vector<double>& differences = figures_.differences();
  if (differences.size() >= kFewestAlike && all_below(differences, -std::log(kMuchSlower)))
    return give_up(now, DecisionKind::refuse, "parking was far slower in each block");
  if (ratio && ratio->high < kWorthwhile)
    return give_up(now, DecisionKind::refuse, ratio->high < 1 ? "parking is slower" : "parking gains less than 1 %");
  const TimeNs took = now - figures_.from();
  const bool over = took >= kLongestTrial && (ratio || took >= 4 * kLongestTrial);
  const bool pays = ratio && ratio->low > 1 && ratio->value >= kWorthwhile;
  if (pays && tails_are_clear()) return keep(now, DecisionKind::keep, "parking gains more than its error");
  if (pays && (tails_are_known(took) || over)) {
    const double tail = figures_.tail_ratio();
    if (tail <= kMaxTail) return keep(now, DecisionKind::keep, "parking gains more than its error");
    if (over || figures_.tail_chance() < kTailChance)
      return give_up(now, DecisionKind::refuse, fmt::format("parked units have a p99 of {:.3g} times", tail));
    tail_wanted_ = 2 * std::max(tail_wanted_, kTailUnits);
  }
  if (over) return give_up(now, DecisionKind::refuse, "the gain is not above its error");
  if (differences.size() >= kFewestAlike && mean_of(differences) < 0 && cost_ns_ > static_cast<double>(allowance(now)))
    return give_up(now, DecisionKind::refuse, "trying parking has cost as much as it may");
  return next_phase();
}

/// No parked unit is longer than the longest 1 % of the polled ones. If as many as 1 % of the parked units were, 300 of
/// them would show it with a probability of 95 %.
bool AutoRule::tails_are_clear() const {
  const std::vector<TimeNs>& parked = figures_.units(Mode::park);
  if (parked.size() < kFewTailUnits || figures_.units(Mode::poll).size() < kFewPolled) return false;
  const double limit = kMaxTail * static_cast<double>(figures_.p99(Mode::poll));
  return static_cast<double>(*std::max_element(parked.begin(), parked.end())) <= limit;
}

bool AutoRule::tails_are_known(TimeNs took) const {
  const std::size_t units = std::min(figures_.units(Mode::poll).size(), figures_.units(Mode::park).size());
  return units >= tail_wanted_ || (took >= kTailTime && units >= kFewTailUnits && tail_wanted_ == kTailUnits);
}

/// So many blocks that half of the gain is above two standard errors of their mean.
std::size_t AutoRule::blocks_for_suspicion() const {
  if (gain_ <= 0) return 1;
  const double needed = std::ceil(std::pow(4 * noise_ / gain_, 2));
  return static_cast<std::size_t>(std::clamp(needed, 1.0, static_cast<double>(kMostControls)));
}

std::optional<Mode> AutoRule::judge_control(TimeNs now) {
  control_at_ = now + kControlPause;
  busy_ = 0;
  if (figures_.blocks() > 0) {
    const double difference = figures_.differences().back();
    controls_.push_back(difference);
    if (controls_.size() > kMostControls) controls_.erase(controls_.begin());
    keep_latest(polled_, figures_.units(Mode::poll));
    const std::size_t some = blocks_for_suspicion();
    const bool low = controls_.size() >= some &&
                     mean_of({controls_.end() - static_cast<std::ptrdiff_t>(some), controls_.end()}) < gain_ / 2;
    if (low || difference < gain_ / 2 - 4 * noise_) {
      suspicion_ = Suspicion::block;
      return begin_measuring(State::check, now);
    }
  }
  state_ = State::keep;
  return Mode::park;
}

std::optional<Mode> AutoRule::judge_check(TimeNs now) {
  const std::vector<double>& differences = figures_.differences();
  if (differences.size() >= kFewestAlike && all_below(differences, -std::log(kSlower)))
    return give_up(now, DecisionKind::go_back, "parking was slower in each block");
  if (figures_.tail_ratio() > kMaxTail && figures_.tail_chance() < kTailChance)
    return give_up(now, DecisionKind::go_back,
                   fmt::format("parked units have a p99 of {:.3g} times", figures_.tail_ratio()));
  const std::optional<analyzer::Speedup> ratio = figures_.ratio(miss());
  if (ratio && ratio->high < 1) return give_up(now, DecisionKind::go_back, "parking is slower");
  const TimeNs took = now - figures_.from();
  const bool over = took >= kLongestCheck && (ratio || took >= 4 * kLongestCheck);
  const std::size_t units = std::min(figures_.units(Mode::poll).size(), figures_.units(Mode::park).size());
  const bool tails_known = suspicion_ != Suspicion::tail || units >= kFewTailUnits || over;
  if (ratio && ratio->low > 1 && tails_known)
    return keep(now, DecisionKind::stay, "parking still gains more than its error");
  if (over) return give_up(now, DecisionKind::go_back, "the gain is not above its error any more");
  return next_phase();
}

TimeNs AutoRule::busy_before_control() const {
  const double units = (static_cast<double>(kControlBlockUnits) + 0.5) * polled_unit_;
  const double polled = std::max(static_cast<double>(control_length().shortest()), units);
  const double shorter = std::exp(-std::max(0.0, gain_));
  return static_cast<TimeNs>(
      std::max(polled * (1 - shorter) / kControlShare, polled * shorter * long_ / kControlUnits));
}

Mode AutoRule::keep(TimeNs now, DecisionKind kind, const std::string& reason) {
  if (kind == DecisionKind::keep) {
    level_alarms_ = tail_alarms_ = 0;
  } else {
    if (suspicion_ == Suspicion::level) ++level_alarms_;
    if (suspicion_ == Suspicion::tail) ++tail_alarms_;
  }
  decide(now, kind, reason);
  state_ = State::keep;
  polled_unit_ = std::exp(mean_of(figures_.times(Mode::poll)));
  gain_ = mean_of(figures_.differences());
  noise_ = standard_deviation(figures_.differences());
  const std::vector<double>& parked = figures_.times(Mode::park);
  level_ = mean_of(parked);
  level_limit_ = std::max(gain_ / 2, 3 * standard_deviation(parked)) * std::pow(1.5, level_alarms_);
  const std::vector<TimeNs>& units = figures_.units(Mode::poll);
  const TimeNs p99 = figures_.p99(Mode::park);
  const auto longer = std::count_if(units.begin(), units.end(), [&](TimeNs unit) { return unit > p99; });
  long_ = std::max(0.0, static_cast<double>(longer) / static_cast<double>(units.size()) - 0.01);
  polled_.clear();
  parked_.clear();
  controls_.clear();
  keep_latest(polled_, figures_.units(Mode::poll));
  control_at_ = now + kControlPause;
  busy_ = 0;
  return Mode::park;
}

Mode AutoRule::give_up(TimeNs now, DecisionKind kind, const std::string& reason) {
  decide(now, kind, reason);
  in_vain_ = kind == DecisionKind::refuse ? in_vain_ + 1 : 0;
  cost_ns_ = std::max(0.0, cost_ns_);
  state_ = State::pause;
  decided_ = now;
  changed_ = 0;
  const std::vector<double>& polled = figures_.times(Mode::poll);
  if (!polled.empty()) {
    level_ = mean_of(polled);
    level_limit_ = std::max(std::log(kOtherLevel), 4 * standard_deviation(polled));
  }
  return Mode::poll;
}

void AutoRule::decide(TimeNs now, DecisionKind kind, const std::string& reason) {
  AutoDecision decision{kind, figures_.from(), now};
  const bool measured = kind != DecisionKind::trial;
  if (measured) {
    decision.blocks = figures_.blocks();
    decision.poll_units = figures_.units(Mode::poll).size();
    decision.park_units = figures_.units(Mode::park).size();
    decision.ratio = figures_.ratio(miss());
    decision.poll = time_of_log(figures_.times(Mode::poll));
    decision.park = time_of_log(figures_.times(Mode::park));
    decision.poll_p99 = figures_.p99(Mode::poll);
    decision.park_p99 = figures_.p99(Mode::park);
  }
  decision.reason = reason;
  decisions_.push_back(std::move(decision));
}

std::optional<Mode> AutoRule::watch_kept(TimeNs now, const std::vector<TimeNs>& units) {
  mode_ = Mode::park;
  const TimeNs elapsed = now - since_;
  if (elapsed < std::max(kWindow, length_.shortest()) || units.size() < kPhaseIterations || !unit_ended_) {
    if (now - heard_ < std::max(kLongSilence, usual_window())) return std::nullopt;
    figures_ = AutoFigures(heard_);
    return give_up(now, DecisionKind::go_back,
                   "no unit of work was seen for " + analyzer::format_duration(now - heard_));
  }
  busy_ += std::min(elapsed, std::accumulate(units.begin(), units.end(), TimeNs{0}));
  if (now >= control_at_ && busy_ >= busy_before_control()) return begin_measuring(State::control, now);
  if (looks_worse(phase_of(now, units))) return begin_measuring(State::check, now);
  return Mode::park;
}

/// Twice the time of the units of a window.
TimeNs AutoRule::usual_window() const { return static_cast<TimeNs>(2 * kPhaseIterations * std::exp(level_)); }

/// The level rises by half of the gain, or long units become more than they were while polling.
bool AutoRule::looks_worse(const AutoPhase& window) {
  keep_latest(parked_, window.units);
  if (window.log_time - level_ > level_limit_) {
    suspicion_ = Suspicion::level;
    return true;
  }
  if (std::min(parked_.size(), polled_.size()) < kFewTailUnits) return false;
  if (tail_chance(polled_, parked_) >= kTailSuspicion * std::pow(0.1, tail_alarms_)) return false;
  suspicion_ = Suspicion::tail;
  return true;
}

TimeNs AutoRule::pause() const {
  TimeNs pause = kPause;
  for (unsigned i = 1; i < in_vain_ && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

std::optional<Mode> AutoRule::watch_pause(TimeNs now, const std::vector<TimeNs>& units) {
  mode_ = Mode::poll;
  if (now - since_ < std::max(kWindow, length_.shortest()) || units.size() < kPhaseIterations) return std::nullopt;
  const bool other = std::abs(phase_of(now, units).log_time - level_) > level_limit_;
  changed_ = other ? changed_ + 1 : 0;
  const bool changed = changed_ >= kWindowsOfChange;
  const bool due = now - decided_ >= (changed ? kPause : pause());
  if (!due || cost_ns_ > static_cast<double>(allowance(now))) return Mode::poll;
  const Mode first = begin_measuring(State::trial, now);
  decide(now, DecisionKind::trial,
         changed ? "its time per unit has changed" : "the pause since the last trial is over");
  return first;
}

}  // namespace wicprof::cli
