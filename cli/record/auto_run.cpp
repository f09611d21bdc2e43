#include "cli/record/auto_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/decision.h"
#include "cli/record/cgroup.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kAutopilotTimeout = 2 * kSecond;  // as for a comparison of both modes

std::int64_t millionths(double ratio) { return std::llround(ratio * 1e6); }

std::optional<TimeNs> known(TimeNs time) { return time > 0 ? std::optional(time) : std::nullopt; }

store::DecisionRow row_of(const AutoDecision& decision, WaitSide side, StrategyId strategy, const std::string& unit) {
  store::DecisionRow row;
  row.decision = decision.kind;
  row.side = side;
  row.strategy = strategy;
  row.from = decision.from;
  row.at = decision.at;
  row.reason = decision.reason;
  row.unit = unit;
  row.blocks = static_cast<std::uint32_t>(decision.blocks);
  row.poll_units = static_cast<std::uint32_t>(decision.poll_units);
  row.park_units = static_cast<std::uint32_t>(decision.park_units);
  if (decision.ratio) {
    row.ratio_ppm = millionths(decision.ratio->value);
    row.low_ppm = millionths(decision.ratio->low);
    row.high_ppm = millionths(decision.ratio->high);
  }
  row.poll = known(decision.poll);
  row.park = known(decision.park);
  row.poll_p99 = known(decision.poll_p99);
  row.park_p99 = known(decision.park_p99);
  return row;
}

}  // namespace

Result<> AutoRun::begin(const AutoPlan& plan) {
  const std::lock_guard lock(mutex_);
  if (running_) return unavailable("the autopilot of this run is on already");
  plan_ = plan;
  if (const std::optional<CpuLimit> limit = cgroup_cpu_limit(program_)) quota_period_ = limit->period;
  sides_.clear();
  turn_ = 0;
  sequence_.reset();
  ended_.clear();
  running_ = facts_.begun = true;
  meter_.enable(WaitSide::host);  // ranges and launches count where no site does
  return ok();
}

void AutoRun::end(const std::string& reason, TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  running_ = false;
  ended_ = reason;
  for (const Side& side : sides_)
    switchboard_.request(side.side == WaitSide::host ? plan_.host_before : plan_.device_before, side.side);
  AutoDecision decision{DecisionKind::end, now, now};
  decision.reason = reason;
  record(row_of(decision, plan_.side, plan_.park.strategy, {}));
}

void AutoRun::program_ended() {
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  running_ = false;
  ended_ = "the program has ended";
}

/// A side begins in the program's own way.
void AutoRun::find_sides() {
  const auto add = [&](WaitSide side, bool waits) {
    const bool wanted = plan_.side == WaitSide::both || plan_.side == side;
    const bool is_there = std::any_of(sides_.begin(), sides_.end(), [&](const Side& s) { return s.side == side; });
    if (!wanted || !waits || is_there) return;
    sides_.push_back({side, AutoRule({plan_.seed + sides_.size(), quota_period_}), Mode::poll});
    const WantedWait before = side == WaitSide::host ? plan_.host_before : plan_.device_before;
    if (before.mode != Mode::poll) switchboard_.request({Mode::poll, default_strategy(Mode::poll)}, side);
  };
  add(WaitSide::device, switchboard_.side_with_waits() == WaitSide::device);
  add(WaitSide::host, switchboard_.has_host_waits());
}

std::optional<std::string> AutoRun::follow(TimeNs now, TimeNs attached) {
  const std::lock_guard lock(mutex_);
  if (!running_ || attached == 0) return std::nullopt;
  if (sequence_) {
    if (!switchboard_.applied(*sequence_)) {
      if (late_ || now - requested_ < kAutopilotTimeout) return std::nullopt;
      late_ = true;
      return "the program did not take up the change of mode within 2 s; the autopilot waits for it";
    }
    sequence_.reset();
    late_ = false;
    (void)meter_.take();
    sides_[turn_].rule.switched(std::max(requested_, switchboard_.effective()));
    return std::nullopt;
  }
  if (!measures_now()) find_sides();
  if (sides_.empty()) return std::nullopt;
  Side& side = sides_[turn_];
  const std::optional<Mode> next = side.rule.look(now, meter_.peek());
  std::optional<std::string> news = take_decisions(side);
  if (next) change(side, *next, now);
  return news;
}

bool AutoRun::measures_now() const { return !sides_.empty() && (sequence_ || sides_[turn_].rule.is_busy()); }

void AutoRun::change(Side& side, Mode to, TimeNs now) {
  requested_ = now;
  if (to != side.mode) {
    side.mode = to;
    sequence_ = switchboard_.request(
        to == Mode::park ? plan_.park : WantedWait{Mode::poll, default_strategy(Mode::poll)}, side.side);
    return;
  }
  (void)meter_.take();
  side.rule.switched(now);
  if (!side.rule.is_busy()) next_turn(now);
}

void AutoRun::next_turn(TimeNs now) {
  if (sides_.size() < 2) return;
  turn_ = (turn_ + 1) % sides_.size();
  sides_[turn_].rule.switched(now);
}

std::optional<std::string> AutoRun::take_decisions(Side& side) {
  std::optional<std::string> news;
  for (const AutoDecision& decision : side.rule.take_decisions()) {
    const store::DecisionRow row = row_of(decision, side.side, plan_.park.strategy, meter_.what());
    record(row);
    if (row.decision != DecisionKind::trial || !side.last) side.last = row;
    if (row.ratio_ppm) facts_.measured[side.side] = row;
    news = "autopilot: " + analyzer::decision_text(row);
  }
  return news;
}

void AutoRun::record(const store::DecisionRow& row) {
  ++facts_.decisions[{row.side, row.decision}];
  DecisionEvent event = make_event<DecisionEvent>();
  event.from_ns = row.from;
  event.at_ns = row.at;
  event.ratio_ppm = row.ratio_ppm.value_or(0);
  event.low_ppm = row.low_ppm.value_or(0);
  event.high_ppm = row.high_ppm.value_or(0);
  event.poll_ns = row.poll.value_or(0);
  event.park_ns = row.park.value_or(0);
  event.poll_p99_ns = row.poll_p99.value_or(0);
  event.park_p99_ns = row.park_p99.value_or(0);
  event.blocks = row.blocks;
  event.poll_units = row.poll_units;
  event.park_units = row.park_units;
  event.reason = sink_.text(row.reason);
  event.unit = sink_.text(row.unit);
  event.strategy = static_cast<std::uint32_t>(row.strategy);
  event.decision = row.decision;
  event.side = row.side;
  sink_.write(event);
}

bool AutoRun::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool AutoRun::measures() const {
  const std::lock_guard lock(mutex_);
  return running_ && measures_now();
}

std::string AutoRun::doing() const {
  const std::lock_guard lock(mutex_);
  if (!facts_.begun) return {};
  if (!running_) return "ended: " + ended_;
  if (sides_.empty()) return "waits for the program's first waits";
  std::string text;
  for (const Side& side : sides_) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", side.rule.doing(), analyzer::waits_of_side(side.side));
    if (side.last) text += "; it last " + analyzer::decision_text(*side.last);
  }
  return text;
}

AutopilotFacts AutoRun::facts() const {
  const std::lock_guard lock(mutex_);
  AutopilotFacts facts = facts_;
  facts.running = running_;
  return facts;
}

}  // namespace wicprof::cli
