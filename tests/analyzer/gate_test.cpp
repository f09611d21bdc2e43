#include "analyzer/gate/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TEST(RunInterval, SpansAllValuesOfFewRuns) {
  const RunInterval one = run_interval({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
  EXPECT_EQ(one.coverage, 0);
  const RunInterval five = run_interval({5, 1, 4, 2, 3});
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_DOUBLE_EQ(five.coverage, 1 - 2.0 / 32);
  EXPECT_DOUBLE_EQ(run_interval({1, 2, 3, 4, 5, 6}).coverage, 1 - 2.0 / 64);
  EXPECT_EQ(run_interval({1, 2, 3, 4, 5, 6}).median, 3.5);
}

TEST(RunInterval, OmitsOuterValuesOfManyRuns) {
  const RunInterval nine = run_interval({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
  EXPECT_DOUBLE_EQ(nine.coverage, 1 - 2.0 * (1 + 9) / 512);
  // From 6 runs on, the coverage is at least 95 %, and that of the next narrower interval is not.
  for (std::size_t n = 6; n <= 200; ++n) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i + 1);
    const RunInterval interval = run_interval(values);
    EXPECT_GE(interval.coverage, 0.95) << n;
    const auto k = static_cast<double>(interval.low);
    EXPECT_EQ(interval.high, static_cast<double>(n) + 1 - k) << n;
    double next = interval.coverage;
    next -= 2 * std::exp(std::lgamma(static_cast<double>(n) + 1) - std::lgamma(k + 1) -
                         std::lgamma(static_cast<double>(n) - k + 1) - static_cast<double>(n) * std::log(2.0));
    EXPECT_LT(next, 0.95) << n;
  }
}

RunFigures run_of(const std::string& name, TimeNs period, TimeNs wake = 1'500, std::uint32_t polls = 100) {
  TraceModel model = empty_program();
  model.name = name;
  add_handoff(model, {.iterations = 60, .wake_latency = wake, .polls = polls, .period = [=](std::size_t i) {
                        return period + static_cast<TimeNs>(i % 7) * 100;
                      }});
  settle(model);
  return figures_of(model, analyze(model), {});
}

GateSide side_of_runs(const std::string& label, TimeNs period, std::size_t runs = 6) {
  GateSide side{label, {}};
  for (std::size_t i = 0; i < runs; ++i) side.runs.push_back(run_of(label + std::to_string(i), period));
  return side;
}

const Check* find_check(const GateResult& result, std::string_view name) {
  const auto found =
      std::find_if(result.checks.begin(), result.checks.end(), [&](const Check& check) { return check.name == name; });
  return found == result.checks.end() ? nullptr : &*found;
}

TEST(Gate, FailsALimitOnlyIfMedianAndIntervalAgree) {
  GateConfig config;
  config.every_site.polls_per_wait = 150;
  GateSide side{"it", {}};
  for (const std::uint32_t polls : {100u, 110u, 120u, 130u, 140u, 149u})
    side.runs.push_back(run_of("t", 1'000'000, 1'500, polls));
  EXPECT_EQ(judge_runs(config, {side}, {}).state, CheckState::passed);
  side.runs.back() = run_of("t", 1'000'000, 1'500, 151);
  EXPECT_EQ(judge_runs(config, {side}, {}).state, CheckState::inconclusive);
  config.allow_inconclusive = true;
  EXPECT_EQ(judge_runs(config, {side}, {}).state, CheckState::passed);
  for (RunFigures& run : side.runs) run = run_of("t", 1'000'000, 1'500, 151);
  EXPECT_EQ(judge_runs(config, {side}, {}).state, CheckState::failed);
}

TEST(Gate, CannotCheckWakeLatencyWithoutSignals) {
  GateConfig config;
  config.every_site.p99_wake_ns = 1'000'000;
  TraceModel model = empty_program();
  add_handoff(model, {});
  model.signals.clear();
  settle(model);
  const GateSide side{"it", {figures_of(model, analyze(model), {})}};
  const GateResult result = judge_runs(config, {side}, {});
  EXPECT_EQ(result.state, CheckState::could_not_look);
  EXPECT_NE(find_check(result, "p99_wake_latency")->text.find("no signal"), std::string::npos);
}

TEST(Gate, ARegressionIsNotMissingData) {
  const GateResult slower = judge_runs({}, {side_of_runs("a", 1'000'000), side_of_runs("b", 1'100'000)}, {});
  EXPECT_EQ(slower.state, CheckState::failed);
  EXPECT_EQ(find_check(slower, "regression")->state, CheckState::failed);
  EXPECT_EQ(judge_runs({}, {side_of_runs("a", 1'000'000), side_of_runs("b", 1'000'000)}, {}).state, CheckState::passed);
  EXPECT_EQ(judge_runs({}, {side_of_runs("a", 1'000'000), side_of_runs("b", 900'000)}, {}).state, CheckState::passed);
}

TEST(Gate, CannotCheckRunsWithLosses) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  model.stats.push_back(lost(1'000'000));
  settle(model);
  const GateResult result = judge_runs({}, {{"it", {figures_of(model, analyze(model), {})}}}, {});
  EXPECT_EQ(result.state, CheckState::could_not_look);
  EXPECT_EQ(find_check(result, "recording")->state, CheckState::could_not_look);
}

TEST(Gate, RefusesABaselineFromOtherDevices) {
  const GateSide side = side_of_runs("now", 1'000'000, 6);
  RunSeries old = side.runs[0].series;
  EXPECT_EQ(judge_runs({}, {side}, {old}).state, CheckState::passed);
  old.devices = {"another GPU"};
  EXPECT_EQ(judge_runs({}, {side}, {old}).state, CheckState::could_not_look);
  GateConfig any;
  any.any_device = true;
  EXPECT_EQ(judge_runs(any, {side}, {old}).state, CheckState::passed);
}

TEST(Gate, BrokenOverridesAllAndIsNeverForgiven) {
  EXPECT_EQ(broken_gate("it hung").state, CheckState::broken);
  EXPECT_EQ(judge_runs({}, {{"it", {}}}, {}).state, CheckState::broken);
  EXPECT_EQ(judge_runs({}, {}, {}).state, CheckState::broken);
}

}  // namespace
}  // namespace wicprof::analyzer
