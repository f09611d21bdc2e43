#include "cli/record/ab_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compare/segments.h"
#include "analyzer/measure/unit_ratio.h"
#include "analyzer/measure/warm_up.h"

namespace wicprof::cli {

namespace {

/// A phase is at most this share of the time, so that half of the time suffices for the fewest blocks.
constexpr TimeNs kPhasesInTime = 4 * static_cast<TimeNs>(analyzer::kFewestBlocks);
/// A phase without the fewest iterations waits for them this many times as long.
constexpr TimeNs kPhaseTimeoutFactor = 4;
/// A program that is not steady by then is measured as it is, and the trace says so.
constexpr TimeNs kWarmUpInTime = 4;

}  // namespace

std::string_view ab_end_name(AbEnd end) {
  switch (end) {
    case AbEnd::precision:
      return "precision";
    case AbEnd::time:
      return "time";
    case AbEnd::program:
      return "program";
    case AbEnd::running:
      break;
  }
  return "running";
}

AbSchedule::AbSchedule(const AbPlan& plan) : plan_(plan), random_(plan.seed) {
  length_.quota_period = plan_.quota_period;
  length_.least = plan_.least_phase;
  length_.longest = std::max(length_.shortest(), plan_.time / kPhasesInTime);
  length_.timeout = kPhaseTimeoutFactor * length_.longest;
}

Mode AbSchedule::next_phase() {
  if (!second_ && !phases_.empty()) {
    second_ = true;
    return first_of_block_ == Mode::poll ? Mode::park : Mode::poll;
  }
  second_ = false;
  first_of_block_ = random_() % 2 == 0 ? Mode::poll : Mode::park;
  return first_of_block_;
}

void AbSchedule::close_phase(TimeNs now, const std::vector<TimeNs>& durations) {
  Phase& phase = phases_.back();
  phase.end = now;
  if (durations.size() >= analyzer::kFewestInSegment)
    phase.log_time = std::log(std::max(1.0, length_.time_of(durations)));
  if (!second_ || phases_.size() < 2) return;
  const Phase& other = phases_[phases_.size() - 2];
  if (phase.log_time == 0 || other.log_time == 0) return;
  const double difference = phase.log_time - other.log_time;
  differences_.push_back(phase.mode == Mode::poll ? difference : -difference);
}

WantedWait AbSchedule::finish(AbEnd end) {
  end_ = end;
  requested_ = false;
  return plan_.then;
}

std::optional<WantedWait> AbSchedule::look(TimeNs now, TimeNs attached, const std::vector<TimeNs>& durations) {
  if (over() || requested_) return std::nullopt;
  if (since_ == 0) since_ = attached;
  const bool time_is_over = now - attached >= plan_.time;
  if (stage_ == Stage::warm_up) {
    if (time_is_over) return finish(AbEnd::time);
    std::vector<double> logs;
    for (const TimeNs duration : durations)
      logs.push_back(std::log(static_cast<double>(std::max<TimeNs>(1, duration))));
    steady_ = now - since_ >= kShortestPhase && analyzer::is_steady(logs);
    if (!steady_ && now - attached < plan_.time / kWarmUpInTime) return std::nullopt;
    // The other mode warms up for one phase, too: its first waits choose a strategy, for example.
    stage_ = Stage::other_warm_up;
    requested_ = true;
    return way_of(Mode::park);
  }
  if (!length_.is_reached(now - since_, durations.size()) && !time_is_over) return std::nullopt;
  if (stage_ == Stage::phases) close_phase(now, durations);
  if (time_is_over) return finish(AbEnd::time);
  if (stage_ == Stage::phases && second_ && plan_.precision > 0 && differences_.size() >= analyzer::kFewestBlocks) {
    const std::optional<double> width = analyzer::anytime_half_width(differences_, analyzer::kMissAtLooks);
    if (width && *width <= std::log1p(plan_.precision)) return finish(AbEnd::precision);
  }
  stage_ = Stage::phases;
  const Mode next = next_phase();
  phases_.push_back({next, 0, 0, 0});
  requested_ = true;
  return way_of(next);
}

void AbSchedule::switched(TimeNs requested, TimeNs effective) {
  if (!requested_) return;
  requested_ = false;
  since_ = std::max(requested, effective);
  if (stage_ == Stage::phases && !phases_.empty()) phases_.back().begin = since_;
}

void AbSchedule::program_ended(TimeNs now) {
  if (over()) return;
  end_ = AbEnd::program;
  if (!phases_.empty() && phases_.back().begin != 0 && phases_.back().end == 0) phases_.back().end = now;
}

std::string AbSchedule::doing() const {
  if (stage_ != Stage::phases) return "warming up";
  return fmt::format("{} of poll and park measured",
                     differences_.size() == 1 ? "1 block" : fmt::format("{} blocks", differences_.size()));
}

std::map<store::MetaKey, std::string> AbSchedule::meta() const {
  std::string phases;
  for (const Phase& phase : phases_) {
    if (phase.begin == 0 || phase.end <= phase.begin) break;
    phases += fmt::format("{}{}:{}:{}", phases.empty() ? "" : ",", mode_name(phase.mode), phase.begin, phase.end);
  }
  std::map<store::MetaKey, std::string> meta = {{store::MetaKey::ab_phases, phases},
                                                {store::MetaKey::ab_seed, std::to_string(plan_.seed)},
                                                {store::MetaKey::ab_end, std::string(ab_end_name(end_))},
                                                {store::MetaKey::ab_warm_up, steady_ ? "steady" : "not steady"}};
  if (plan_.placebo) meta[store::MetaKey::ab_placebo] = "1";
  if (plan_.quota_period > 0) meta[store::MetaKey::ab_quota_period_ns] = std::to_string(plan_.quota_period);
  if (plan_.precision > 0) meta[store::MetaKey::ab_precision] = fmt::format("{:.6g}", plan_.precision);
  return meta;
}

}  // namespace wicprof::cli
