#include "collector/waits/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "collector/waits/wait_plan.h"

namespace wicprof::collector {
namespace {

constexpr SleepCosts kCosts{10'000, 20'000};  // of a thread that wakes 10 us late

TEST(Series, FollowsItsValuesAndForgets) {
  Series series;
  for (int i = 0; i < 100; ++i) series.add(1'000'000);
  EXPECT_EQ(series.mean(), 1'000'000);
  EXPECT_LT(series.deviation(), 2'000);
  for (int i = 0; i < 100; ++i) series.add(100'000);
  EXPECT_NEAR(static_cast<double>(series.mean()), 100'000, 1'000);
  EXPECT_EQ(series.least(), 100'000);
  for (int i = 0; i < 800; ++i) series.add(1'000'000);
  EXPECT_GT(series.least(), 900'000);
}

TEST(Series, OneDelayDoesNotMakeSteadyValuesUncertain) {
  Series series;
  for (int i = 0; i < 100; ++i) series.add(20'000 + i % 2 * 400);
  series.add(1'000'000);
  EXPECT_LT(series.mean(), 22'000);
  EXPECT_LT(series.deviation(), 2'000);
  for (int i = 0; i < 40; ++i) series.add(1'000'000);  // no delay but another length
  EXPECT_GT(series.mean(), 900'000);
  Series zeros;
  for (int i = 0; i < 10; ++i) zeros.add(0);
  for (int i = 0; i < 60; ++i) zeros.add(5'000'000);
  EXPECT_GT(zeros.mean(), 4'000'000);
}

TEST(Predictor, KnowsPlacesAndWorksApart) {
  Predictor predictor;
  AwaitedWork small, large;
  int kernel = 0;
  small.add(&kernel, {1, 1, 1, 32, 1, 1}, 0);
  large.add(&kernel, {1000, 1, 1, 32, 1, 1}, 0);
  EXPECT_NE(small.key, large.key);
  EXPECT_FALSE(predictor.forecast(1, small, 0));
  for (int i = 0; i < 10; ++i) {
    predictor.observe(1, small, 0, 20'000);
    predictor.observe(1, large, 0, 5'000'000);
    predictor.observe(2, small, 0, 70'000);
  }
  EXPECT_EQ(predictor.forecast(1, small, 0)->left, 20'000);
  EXPECT_EQ(predictor.forecast(1, large, 0)->left, 5'000'000);
  EXPECT_EQ(predictor.forecast(2, small, 0)->left, 70'000);
  EXPECT_FALSE(predictor.forecast(3, small, 0));
}

TEST(Predictor, AKernelOfOneLengthIsKnownWhateverTheThreadDoesBeforeItsWait) {
  Predictor predictor;
  int kernel = 0;
  for (int i = 0; i < 60; ++i) {
    AwaitedWork work;
    work.add(&kernel, {8, 1, 1, 32, 1, 1}, 1'000);
    predictor.observe(1, work, 1'000 + (i % 7) * 500'000, 1'000 + 5'000'000);
  }
  AwaitedWork work;
  work.add(&kernel, {8, 1, 1, 32, 1, 1}, 2'000);
  const auto forecast = predictor.forecast(1, work, 2'000 + 3'000'000);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->left, 2'000'000);
  EXPECT_LT(forecast->deviation, 100'000);
}

TEST(Predictor, ForgetsAllWhenItKnowsTooMuch) {
  Predictor predictor;
  for (int i = 0; i < 5; ++i) predictor.observe(1, {1, 0}, 0, 1'000);
  EXPECT_TRUE(predictor.forecast(1, {1, 0}, 0));
  for (std::uint64_t i = 2; i < 2 * Predictor::kMost; ++i) predictor.observe(1, {i, 0}, 0, 1'000);
  EXPECT_FALSE(predictor.forecast(1, {1, 0}, 0));
}

/// How late a wait ends, and how much CPU time it takes, for a kernel that ends at `length`: park() without a driver.
struct Cost {
  double late = 0, cpu = 0, length = 0;
  Cost& operator+=(const Cost& one) {
    late += one.late;
    cpu += one.cpu;
    length += one.length;
    return *this;
  }
};

constexpr double kAsk = 1'000;     // ns of CPU time, and of delay, for a question to the driver
constexpr double kSwitch = 3'000;  // ns of CPU time for a sleep

Cost simulate(const WaitPlan& plan, double length) {
  Cost cost;
  cost.length = length;
  double now = 0;
  const auto sleep = [&](double until) {
    now = until + static_cast<double>(kCosts.wake);
    cost.cpu += kSwitch;
  };
  if (plan.sleep > 0) sleep(static_cast<double>(plan.sleep));
  if (plan.to_driver) {
    cost.cpu += std::max(0.0, length - now);
    now = std::max(now, length);
  }
  while (!plan.to_driver) {
    now += kAsk;
    cost.cpu += kAsk;
    if (now >= length) break;
    if (plan.shortest_nap == 0 || now < static_cast<double>(plan.poll_until)) continue;
    sleep(now + static_cast<double>(plan.nap(static_cast<TimeNs>(now))));
  }
  cost.late = now - length;
  return cost;
}

Cost run(StrategyId strategy, const std::vector<double>& lengths) {
  Predictor predictor;
  Cost total;
  for (const double length : lengths) {
    const auto forecast = predictor.forecast(1, {}, 0);
    const Cost cost = simulate(plan_of(strategy, forecast, kCosts), length);
    predictor.observe(1, {}, 0, static_cast<TimeNs>(length + cost.late));
    total += cost;
  }
  return total;
}

/// `next`: the length of the wait of that number. The bounds: at least 0.98 of the speed of block, and a share of the
/// CPU.
template <class Next>
void expect_bounds(const char* what, Next&& next, double least_speed, double most_cpu) {
  std::vector<double> lengths;
  for (int i = 0; i < 2'000; ++i) lengths.push_back(next(i));
  const Cost hybrid = run(StrategyId::hybrid, lengths);
  const Cost block = run(StrategyId::block, lengths);
  const Cost spin = run(StrategyId::spin, lengths);
  const auto time = [](const Cost& c) { return c.length + c.late; };
  EXPECT_GE(time(spin) / time(hybrid), least_speed) << what;
  EXPECT_GE(time(block) / time(hybrid), 0.98) << what;
  EXPECT_LE(hybrid.cpu / time(hybrid), most_cpu) << what << ", late by " << hybrid.late / 2'000;
  EXPECT_LE(hybrid.cpu, 1.01 * spin.cpu) << what;
}

TEST(Hybrid, HasBoundedRegretAgainstSpinAndBlock) {
  std::mt19937 random(7);
  const auto within = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  for (const double length : {20e3, 200e3, 5e6}) {
    const double cpu = length > 1e6 ? 0.25 : 1.01;
    expect_bounds(
        "fixed", [&](int) { return length; }, 0.99, length < 100e3 ? 1.01 : cpu);
    expect_bounds(
        "2 % more or less", [&](int) { return within(0.98, 1.02) * length; }, 0.99, cpu);
    expect_bounds(
        "50 % more or less", [&](int) { return within(0.5, 1.5) * length; }, 0.99, cpu);
    expect_bounds(
        "drifting", [&](int i) { return length * (1 + 0.5 * ((i / 500) % 2) + (i % 500) / 1000.0); }, 0.99, cpu);
    expect_bounds(
        "falling", [&](int i) { return length * (1.5 - (i % 500) / 500.0); }, 0.99, cpu);
  }
  expect_bounds(
      "bimodal", [&](int) { return within(0, 1) < 0.5 ? 20e3 : 5e6; }, 0.98, 0.25);
  expect_bounds(
      "rarely long", [&](int i) { return i % 50 == 49 ? 5e6 : 20e3; }, 0.97, 1.01);
  // Delays that are not the kernel's must not cost what they do not last.
  expect_bounds(
      "fixed with rare delays", [&](int i) { return i % 40 == 39 ? 1e6 : 20e3; }, 0.99, 1.01);
  expect_bounds(
      "rarely short", [&](int i) { return i % 50 == 49 ? 20e3 : 5e6; }, 0.97, 0.25);
}

TEST(Hybrid, LeavesShortWaitsToTheCall) {
  Forecast forecast{20'000, 1'000, 19'000, 10};
  WaitPlan plan = plan_of(StrategyId::hybrid, forecast, kCosts);
  EXPECT_EQ(plan.sleep, 0);
  EXPECT_TRUE(plan.to_driver);
  EXPECT_EQ(way_of(forecast, plan), HybridWay::polls);
  forecast = {5'000'000, 10'000, 4'980'000, 10};
  plan = plan_of(StrategyId::hybrid, forecast, kCosts);
  EXPECT_GT(plan.sleep, 4'800'000);
  EXPECT_LT(plan.sleep, 5'000'000 - kCosts.wake);
  EXPECT_TRUE(plan.to_driver);
  EXPECT_EQ(way_of(forecast, plan), HybridWay::sleeps_then_polls);
  forecast = {5'000'000, 1'250'000, 2'500'000, 10};
  plan = plan_of(StrategyId::hybrid, forecast, kCosts);
  EXPECT_FALSE(plan.to_driver);
  EXPECT_GT(plan.sleep, 2'000'000);
  EXPECT_LT(plan.sleep, 2'500'000);
  EXPECT_EQ(way_of(forecast, plan), HybridWay::naps);
  EXPECT_NE(reason_of(HybridWay::naps, forecast, kCosts).find("5 ms"), std::string::npos);
  plan = plan_of(StrategyId::hybrid, std::nullopt, kCosts);
  EXPECT_FALSE(plan.to_driver);  // an unknown wait may be a long one
  EXPECT_GT(plan.shortest_nap, 0);
  EXPECT_LE(plan.nap(kSecond), kMillisecond);  // a toggle takes effect within a millisecond
}

TEST(Hybrid, DoesNotPollWhereOthersUseTheCpus) {
  SleepCosts costs = kCosts;
  costs.contended = true;
  const Forecast forecast{2'000'000, 30'000, 1'900'000, 10};
  const WaitPlan plan = plan_of(StrategyId::hybrid, forecast, costs);
  EXPECT_FALSE(plan.to_driver);
  EXPECT_EQ(plan.poll_until, 0);
  EXPECT_GT(plan.shortest_nap, 0);
  EXPECT_GT(plan.sleep, 1'000'000);
  EXPECT_LT(plan.sleep, 2'000'000 - costs.late);
  EXPECT_EQ(way_of(forecast, plan), HybridWay::shares_cpu);
  SleepCosts crowded = costs;
  crowded.late = 1'000'000;  // a CPU is a millisecond late: waking up that early would use up the share
  EXPECT_EQ(plan_of(StrategyId::hybrid, forecast, crowded).sleep, plan.sleep);
  EXPECT_NE(reason_of(HybridWay::shares_cpu, forecast, costs).find("others use the CPUs"), std::string::npos);
  EXPECT_TRUE(plan_of(StrategyId::hybrid, Forecast{costs.wake, 0, costs.wake, 10}, costs).to_driver);
}

TEST(Contention, NeedsSeveralDelaysAndEndsWithThem) {
  Contention contention;
  const auto waits = [&](int count, TimeNs delay) {
    for (int i = 0; i < count; ++i) contention.wait_ended(delay);
  };
  waits(100, 10'000);
  EXPECT_FALSE(contention.contended());
  waits(1, 8'000'000);
  EXPECT_FALSE(contention.contended());
  waits(10, 1'000'000);
  EXPECT_TRUE(contention.contended());
  waits(200, 10'000);
  EXPECT_FALSE(contention.contended());
}

TEST(SleepLateness, FollowsTheLatestOfAHundred) {
  SleepLateness sleeps;
  EXPECT_EQ(sleeps.late(70'000), 70'000);
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) sleeps.sleep_ended(random() % 40 == 0 ? 300'000 : 10'000, 70'000);
  EXPECT_GT(sleeps.late(70'000), 250'000);
  for (int i = 0; i < 20'000; ++i) sleeps.sleep_ended(20'000, 70'000);
  EXPECT_LT(sleeps.late(70'000), 40'000);
  for (int i = 0; i < 1'000; ++i) sleeps.sleep_ended(kSecond, 70'000);
  EXPECT_LE(sleeps.late(70'000), kMillisecond);
}

}  // namespace
}  // namespace wicprof::collector
