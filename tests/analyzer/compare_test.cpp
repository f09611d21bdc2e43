#include "analyzer/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

/// A base with noise of a few percent, deterministic for a seed.
std::function<TimeNs(Mode, std::size_t)> noisy(TimeNs poll, TimeNs park, double spread, unsigned seed) {
  auto random = std::make_shared<std::mt19937>(seed);
  return [=](Mode mode, std::size_t) {
    std::normal_distribution<double> noise(1.0, spread);
    const double base = static_cast<double>(mode == Mode::poll ? poll : park);
    return static_cast<TimeNs>(base * std::max(0.2, noise(*random)));
  };
}

TEST(Judge, NeedsTheIntervalAndTheTolerance) {
  EXPECT_EQ(judge({2.0, 1.9, 2.1}, 0.02), Verdict::improvement);
  EXPECT_EQ(judge({0.5, 0.4, 0.6}, 0.02), Verdict::regression);
  EXPECT_EQ(judge({1.005, 0.99, 1.015}, 0.02), Verdict::no_change);
  EXPECT_EQ(judge({1.01, 1.005, 1.015}, 0.02), Verdict::no_change);  // real, but too small to matter
  EXPECT_EQ(judge({1.5, 0.9, 2.0}, 0.02), Verdict::inconclusive);    // large, but may be chance
  EXPECT_EQ(judge({1.0, 0.8, 1.2}, 0.02), Verdict::inconclusive);    // wide
  EXPECT_EQ(judge({1.015, 1.005, 1.05}, 0.02), Verdict::inconclusive);
}

TEST(Bootstrap, IntervalHasItsNominalCoverage) {
  int covered = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    std::normal_distribution<double> noise(1.0, 0.1);
    std::vector<TimeNs> before(80), after(80);
    for (TimeNs& t : before) t = static_cast<TimeNs>(3e6 * noise(random));
    for (TimeNs& t : after) t = static_cast<TimeNs>(1e6 * noise(random));
    const Speedup speedup = bootstrap_speedup({before}, {after}, {});
    EXPECT_LE(speedup.low, speedup.value);
    EXPECT_GE(speedup.high, speedup.value);
    covered += speedup.low <= 3.0 && 3.0 <= speedup.high ? 1 : 0;
  }
  EXPECT_GE(covered, kRounds * 88 / 100);
  EXPECT_LT(covered, kRounds);  // an interval that never misses is too wide to be one of 95 %
}

TEST(Bootstrap, CorrelatedNeighboursWidenTheInterval) {
  // The same values, once in random order and once in long waves.
  std::mt19937 random(4);
  std::vector<TimeNs> wave(600);
  for (std::size_t i = 0; i < wave.size(); ++i)
    wave[i] = i / 8 % 2 == 0 ? 900'000 + TimeNs(random() % 60'000) : 1'100'000 - TimeNs(random() % 60'000);
  std::vector<TimeNs> shuffled = wave;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const std::vector<TimeNs> steady(600, 1'000'000);
  const Speedup waves = bootstrap_speedup({wave}, {steady}, {});
  const Speedup mixed = bootstrap_speedup({shuffled}, {steady}, {});
  EXPECT_GE(waves.high - waves.low, mixed.high - mixed.low);
}

TEST(Bootstrap, IsDeterministicForASeed) {
  std::vector<TimeNs> before, after;
  std::mt19937 random(8);
  for (int i = 0; i < 50; ++i) {
    before.push_back(1000 + random() % 500);
    after.push_back(700 + random() % 500);
  }
  const Speedup once = bootstrap_speedup({before}, {after}, {});
  const Speedup again = bootstrap_speedup({before}, {after}, {});
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
}

TEST(Compare, FindsAnImprovement) {
  const Comparison comparison =
      compare(phased_program({.phases = 4, .iterations = 60, .period = noisy(4'000'000, 1'000'000, 0.05, 1)}));
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 4.0, 0.2);
  EXPECT_LE(comparison.speedup->low, 4.0);
  EXPECT_GE(comparison.speedup->high, 4.0);
  EXPECT_EQ(comparison.before.label, "poll");
  EXPECT_EQ(comparison.after.label, "park");
  ASSERT_EQ(comparison.segments.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(comparison.segments[i].mode, i % 2 == 0 ? Mode::poll : Mode::park);
  EXPECT_EQ(comparison.before.iterations,
            comparison.segments[0].iterations.size() + comparison.segments[2].iterations.size());
  EXPECT_FALSE(comparison.reason.empty());
}

TEST(Compare, FindsARegression) {
  const Comparison comparison = compare(phased_program({.period = noisy(1'000'000, 1'300'000, 0.03, 2)}));
  EXPECT_EQ(comparison.verdict, Verdict::regression);
  EXPECT_LT(comparison.speedup->high, 1.0);
}

TEST(Compare, FindsNoChange) {
  const Comparison comparison =
      compare(phased_program({.iterations = 400, .period = noisy(1'000'000, 1'000'000, 0.01, 3)}));
  EXPECT_EQ(comparison.verdict, Verdict::no_change) << comparison.reason;
}

TEST(Compare, IsInconclusiveUnderNoise) {
  const Comparison comparison =
      compare(phased_program({.iterations = 15, .period = noisy(1'000'000, 1'000'000, 0.4, 4)}));
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  ASSERT_TRUE(comparison.speedup);
}

TEST(Compare, NeedsEnoughIterations) {
  const Comparison comparison =
      compare(phased_program({.iterations = 8, .period = noisy(1'000'000, 500'000, 0.01, 5)}));
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_NE(comparison.reason.find("at least 10"), std::string::npos) << comparison.reason;
}

TEST(Compare, OmitsIterationsThatCrossAChange) {
  const TraceModel model =
      phased_program({.phases = 4, .iterations = 30, .period = noisy(1'000'000, 500'000, 0.02, 6)});
  for (const Segment& segment : compare(model).segments) {
    EXPECT_FALSE(segment.iterations.empty());
    for (const Iteration& iteration : segment.iterations) {
      for (const auto& cut : model.interventions) {
        EXPECT_TRUE(iteration.end <= cut.requested || iteration.begin >= cut.effective);
      }
    }
  }
}

TEST(Compare, WithoutInterventionsExplainsHowToRecordThem) {
  TraceModel model = empty_program();
  add_handoff(model, {});
  settle(model);
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_NE(comparison.reason.find("--schedule"), std::string::npos);
}

TEST(Compare, AnInterventionWithoutChangeDoesNotCut) {
  TraceModel model = phased_program({.period = noisy(1'000'000, 500'000, 0.02, 7)});
  store::InterventionRow same = model.interventions.front();
  same.old_mode = same.new_mode = Mode::poll;
  same.old_strategy = same.new_strategy = StrategyId::poll;
  same.requested -= 5'000'000;
  same.effective = same.requested + 1;
  model.interventions.push_back(same);
  settle(model);
  EXPECT_EQ(compare(model).segments.size(), 2u);
}

TEST(Compare, AnEmptyTraceWithInterventionsReportsThatNothingWaited) {
  TraceModel model = phased_program({.period = noisy(1'000'000, 500'000, 0.02, 8)});
  model.waits.clear();
  settle(model);
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_NE(comparison.reason.find("no waits at wait sites"), std::string::npos) << comparison.reason;
}

TEST(Compare, ComparesStrategiesOfOneMode) {
  TraceModel model = phased_program({.period = noisy(2'000'000, 1'000'000, 0.02, 9)});
  auto& cut = model.interventions.at(0);
  cut.old_mode = cut.new_mode = Mode::park;
  cut.old_strategy = StrategyId::backoff;
  cut.new_strategy = StrategyId::shared_watch;
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  EXPECT_EQ(comparison.before.label, "park (backoff)");
  EXPECT_EQ(comparison.after.label, "park (shared_watch)");
}

TEST(Compare, CutsAtInterventionsOfOneSiteWithoutOthers) {
  TraceModel model = phased_program({.period = noisy(2'000'000, 1'000'000, 0.02, 10)});
  for (auto& row : model.interventions) row.site = 1;
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  ASSERT_EQ(comparison.notes.size(), 1u);
  EXPECT_NE(comparison.notes[0].find("only flag was switched"), std::string::npos);
}

TEST(Compare, NotesLosses) {
  TraceModel model = phased_program({.period = noisy(2'000'000, 1'000'000, 0.02, 11)});
  model.stats.push_back(lost(5));
  EXPECT_EQ(compare(model).notes.size(), 1u);
}

TEST(Compare, IsInvariantToShiftsAndNames) {
  const TraceModel model = phased_program({.phases = 4, .period = noisy(2'000'000, 1'000'000, 0.1, 12)});
  const Comparison original = compare(model);
  const Comparison moved = compare(shifted(renamed_devices(model, [](DeviceId) { return 5; }), -999'999'937));
  ASSERT_TRUE(original.speedup && moved.speedup);
  EXPECT_EQ(original.speedup->value, moved.speedup->value);
  EXPECT_EQ(original.speedup->low, moved.speedup->low);
  EXPECT_EQ(original.speedup->high, moved.speedup->high);
}

TraceModel steady_program(const std::string& name, TimeNs period, SiteId site = 1) {
  TraceModel model = empty_program();
  model.name = name;
  model.sites[0].id = site;  // another run may number its sites otherwise
  add_handoff(model,
              {.site = site, .iterations = 60, .period = [=](std::size_t i) { return period + TimeNs(i % 5) * 1000; }});
  settle(model);
  return model;
}

TEST(CompareTwo, TheFirstIsBeforeAndTheSecondAfter) {
  const TraceModel slow = steady_program("slow.wicprof", 3'000'000);
  const TraceModel fast = steady_program("fast.wicprof", 1'000'000, 4);
  const Comparison better = compare(slow, fast);
  EXPECT_EQ(better.verdict, Verdict::improvement);
  EXPECT_NEAR(better.speedup->value, 3.0, 0.05);
  EXPECT_EQ(better.before.label, "slow.wicprof");
  EXPECT_EQ(better.after.label, "fast.wicprof");
  EXPECT_EQ(compare(fast, slow).verdict, Verdict::regression);
}

TEST(CompareTwo, OneTraceTwiceIsNoChange) {
  const TraceModel model = steady_program("same.wicprof", 1'000'000);
  const Comparison comparison = compare(model, model);
  EXPECT_EQ(comparison.verdict, Verdict::no_change);
  EXPECT_NE(comparison.before.label, comparison.after.label);
}

TEST(CompareTwo, ReportsThatNoSiteIsCommon) {
  const TraceModel one = steady_program("one.wicprof", 1'000'000);
  TraceModel other = steady_program("other.wicprof", 1'000'000);
  other.sites[0].name = "elsewhere";
  const Comparison comparison = compare(one, other);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_NE(comparison.reason.find("no common wait site"), std::string::npos);
}

TEST(CompareTwo, NamesAnEmptyTrace) {
  TraceModel empty = empty_program();
  empty.name = "empty.wicprof";
  settle(empty);
  const Comparison comparison = compare(steady_program("full.wicprof", 1'000'000), empty);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_NE(comparison.reason.find("empty.wicprof"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::analyzer
