#include "analyzer/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

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
  constexpr int kTraces = 200;
  for (int round = 0; round < kTraces; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    std::normal_distribution<double> noise(1.0, 0.1);
    std::vector<TimeNs> before(80), after(80);
    for (TimeNs& t : before) t = static_cast<TimeNs>(3e6 * noise(random));
    for (TimeNs& t : after) t = static_cast<TimeNs>(1e6 * noise(random));
    const Speedup speedup = bootstrap_ratio({before}, {after}, {});
    EXPECT_LE(speedup.low, speedup.value);
    EXPECT_GE(speedup.high, speedup.value);
    covered += speedup.low <= 3.0 && 3.0 <= speedup.high ? 1 : 0;
  }
  EXPECT_GE(covered, kTraces * 88 / 100);
  EXPECT_LT(covered, kTraces);  // an interval that never misses is too wide to be one of 95 %
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
  const Speedup waves = bootstrap_ratio({wave}, {steady}, {});
  const Speedup mixed = bootstrap_ratio({shuffled}, {steady}, {});
  EXPECT_GE(waves.high - waves.low, mixed.high - mixed.low);
}

TEST(Bootstrap, IsDeterministicForASeed) {
  std::vector<TimeNs> before, after;
  std::mt19937 random(8);
  for (int i = 0; i < 50; ++i) {
    before.push_back(1000 + random() % 500);
    after.push_back(700 + random() % 500);
  }
  const Speedup once = bootstrap_ratio({before}, {after}, {});
  const Speedup again = bootstrap_ratio({before}, {after}, {});
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
}

TEST(Compare, FindsAnImprovement) {
  const Comparison comparison =
      compare(phased_program({.phases = 8, .iterations = 60, .period = noisy(4'000'000, 1'000'000, 0.05, 1)}));
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 4.0, 0.2);
  EXPECT_LE(comparison.speedup->low, 4.05);
  EXPECT_GE(comparison.speedup->high, 3.95);
  EXPECT_EQ(comparison.before.label, "poll");
  EXPECT_EQ(comparison.after.label, "park");
  ASSERT_EQ(comparison.segments.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(comparison.segments[i].mode, i % 2 == 0 ? Mode::poll : Mode::park);
  std::size_t polled = 0;
  for (std::size_t i = 0; i < 8; i += 2) polled += comparison.segments[i].iterations.size();
  EXPECT_EQ(comparison.before.iterations, polled);
  EXPECT_EQ(comparison.before.units, 4u);
  EXPECT_EQ(comparison.after.units, 4u);
  EXPECT_EQ(comparison.method, UnitMethod::drift);
  EXPECT_FALSE(comparison.reason.empty());
  EXPECT_TRUE(comparison.why.empty());
  EXPECT_TRUE(comparison.settle.empty());
}

TEST(Compare, FindsARegression) {
  const Comparison comparison = compare(phased_program({.phases = 12, .period = noisy(1'000'000, 1'300'000, 0.03, 2)}));
  EXPECT_EQ(comparison.verdict, Verdict::regression);
  EXPECT_LT(comparison.speedup->high, 1.0);
}

TEST(Compare, FindsNoChange) {
  const Comparison comparison =
      compare(phased_program({.phases = 12, .iterations = 100, .period = noisy(1'000'000, 1'000'000, 0.01, 3)}));
  EXPECT_EQ(comparison.verdict, Verdict::no_change) << comparison.reason;
}

TEST(Compare, IsInconclusiveUnderNoise) {
  const Comparison comparison =
      compare(phased_program({.phases = 8, .iterations = 15, .period = noisy(1'000'000, 1'000'000, 0.4, 4)}));
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  ASSERT_TRUE(comparison.speedup);
  EXPECT_EQ(comparison.why, "the interval is too wide");
}

TEST(Compare, OneToggleHasARatioAndNoVerdict) {
  TraceModel model = phased_program({.iterations = 400, .period = noisy(1'000'000, 1'080'000, 0.01, 3)});
  model.meta["command"] = "halo --size 'a b'";
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.why, "one phase each");
  EXPECT_EQ(comparison.settle, "wic-prof run --ab --for 1m -- halo --size 'a b'");
  model.meta["ab_end"] = "precision";  // more time alone would end as early
  EXPECT_EQ(compare(model).settle, "wic-prof run --ab --for 1m --precision 0% -- halo --size 'a b'");
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 1 / 1.08, 0.01);
  EXPECT_NE(comparison.reason.find(".json"), std::string::npos) << "names where the spread was measured";
}

TEST(Compare, OneToggleBeyondEveryKnownSpreadHasAVerdict) {
  const Comparison comparison = compare(phased_program({.period = noisy(100'000'000, 1'000'000, 0.05, 3)}));
  EXPECT_EQ(comparison.verdict, Verdict::improvement) << comparison.reason;
  EXPECT_EQ(comparison.method, UnitMethod::spread);
}

TEST(Compare, TheRatioIsThatOfTheTimesBesideIt) {
  for (const std::size_t phases : {2u, 5u, 8u, 12u}) {
    TraceModel model = phased_program({.phases = phases, .period = noisy(1'500'000, 1'000'000, 0.2, 21)});
    const Comparison comparison = compare(model);
    ASSERT_TRUE(comparison.speedup);
    EXPECT_NEAR(comparison.speedup->value,
                static_cast<double>(*comparison.before.iteration_ns_p50) /
                    static_cast<double>(*comparison.after.iteration_ns_p50),
                1e-5);
    for (const SiteDifference& site : comparison.differences.sites) {
      ASSERT_TRUE(site.ratio);
      EXPECT_NEAR(site.ratio->value, static_cast<double>(site.before_p50_ns) / static_cast<double>(site.after_p50_ns),
                  1e-5);
    }
    for (const EdgeDifference& edge : comparison.differences.edges) {
      ASSERT_TRUE(edge.ratio);
      EXPECT_NEAR(edge.ratio->value, static_cast<double>(edge.before_p50_ns) / static_cast<double>(edge.after_p50_ns),
                  1e-3);
    }
  }
}

TEST(Compare, ADriftThroughTheTraceIsNoChange) {
  // Times grow by 40 % over the trace; polling is always the first of two phases, so a plain ratio is 1.03.
  std::size_t count = 0;
  const Comparison comparison =
      compare(phased_program({.phases = 12, .period = [&](Mode, std::size_t i) {
                                return TimeNs(1'000'000 + 550 * TimeNs(count++) + 1'000 * TimeNs(i % 7));
                              }}));
  EXPECT_EQ(comparison.method, UnitMethod::drift);
  EXPECT_EQ(comparison.verdict, Verdict::no_change) << comparison.reason;
  EXPECT_NE(comparison.estimator.find("drift"), std::string::npos);
}

/// Switches site 2 of a program with two sites alone, from the middle of each parked phase to its end.
TraceModel with_a_site_apart() {
  TraceModel model =
      phased_program({.phases = 12, .period = [](Mode mode, std::size_t i) {
                        // The second half of a parked phase is polled, and takes as long as polling.
                        return TimeNs(mode == Mode::park && i < 30 ? 500'000 : 1'000'000) + TimeNs(i % 5) * 500;
                      }});
  declare_site(model, 2, "other", WordMemory::device);
  std::vector<store::InterventionRow> alone;
  for (const store::InterventionRow& row : model.interventions) {
    if (row.new_mode != Mode::park) continue;
    store::InterventionRow site = row;
    site.site = 2;
    site.old_mode = Mode::park;
    site.old_strategy = row.new_strategy;
    site.new_mode = Mode::poll;
    site.new_strategy = StrategyId::poll;
    site.requested = row.effective + 15'000'000;
    site.effective = site.requested + 100'000;
    alone.push_back(site);
  }
  model.interventions.insert(model.interventions.end(), alone.begin(), alone.end());
  settle(model);
  return model;
}

TEST(Compare, TheTimeInWhichASiteIsApartCountsOnNeitherSide) {
  const Comparison comparison = compare(with_a_site_apart());
  ASSERT_TRUE(comparison.speedup);
  EXPECT_NEAR(comparison.speedup->value, 2, 0.01);
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  std::size_t apart = 0;
  for (const Segment& segment : comparison.segments) {
    if (segment.apart.empty()) continue;
    ++apart;
    EXPECT_EQ(segment.apart, std::vector<std::string>{"other"});
    EXPECT_FALSE(segment.after);
  }
  EXPECT_EQ(apart, 6u);
  ASSERT_FALSE(comparison.notes.empty());
  EXPECT_NE(comparison.notes[0].find("6 segments are left out"), std::string::npos) << comparison.notes[0];
}

/// A trace of `run --ab`: phases of 30 iterations in random order within blocks, whose times share a random walk with
/// steps of `wander`. The clock ticks every `tick` ns. Something stops every fifth polled iteration for `stopped` ns.
TraceModel blocks_program(std::size_t blocks, TimeNs poll, TimeNs park, double noise, unsigned seed,
                          double wander = 0.02, TimeNs tick = 1, TimeNs stopped = 0) {
  TraceModel model = empty_program();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  Handoff handoff;
  handoff.iterations = 30;
  handoff.start = add_handoff(model, {.iterations = 20, .period = [](std::size_t) { return TimeNs{9'000'000}; }});
  handoff.first_iteration = 20;
  double level = 0;
  std::string phases;
  for (std::size_t block = 0; block < blocks; ++block) {
    const bool parked_first = random() % 2 == 0;
    for (const bool second : {false, true}) {
      const bool parked = parked_first != second;
      level += wander * normal(random);
      handoff.period = [&](std::size_t i) {
        return static_cast<TimeNs>(static_cast<double>(parked ? park : poll) *
                                   std::exp(level + noise * normal(random))) /
                   tick * tick +
               (!parked && i % 5 == 0 ? stopped : 0);
      };
      const TimeNs begin = handoff.start;
      handoff.start = add_handoff(model, handoff);
      handoff.first_iteration += 30;
      phases += (phases.empty() ? "" : ",") + std::string(parked ? "park" : "poll") + ":" + std::to_string(begin) +
                ":" + std::to_string(handoff.start);
    }
  }
  model.meta["ab_phases"] = phases;
  model.meta["ab_end"] = "time";
  settle(model);
  return model;
}

TEST(Compare, BlocksOfARandomScheduleFindASmallChangeUnderDrift) {
  const Comparison comparison = compare(blocks_program(40, 1'040'000, 1'000'000, 0.02, 5));
  EXPECT_EQ(comparison.method, UnitMethod::blocks);
  EXPECT_EQ(comparison.before.units, 40u);
  EXPECT_EQ(comparison.verdict, Verdict::improvement) << comparison.reason;
  EXPECT_NEAR(comparison.speedup->value, 1.04, 0.015);
}

// All medians are one tick, and the sides still are not known to be exactly as long.
TEST(Compare, TicksOfTheClockDoNotMakeAnIntervalOfNoWidth) {
  const Comparison comparison = compare(blocks_program(40, 104'000, 104'000, 0.002, 7, 0, 512));
  ASSERT_TRUE(comparison.speedup) << comparison.reason;
  EXPECT_EQ(comparison.verdict, Verdict::no_change) << comparison.reason;
  EXPECT_LT(comparison.speedup->low, comparison.speedup->value);
  EXPECT_GT(comparison.speedup->high, comparison.speedup->value);
}

// Four of five iterations are as long in both modes, and so are the medians.
TEST(Compare, UnderAQuotaTheTimePerIterationCounts) {
  TraceModel model = blocks_program(20, 1'000'000, 1'000'000, 0.002, 8, 0.02, 1, 5'000'000);
  EXPECT_NE(compare(model).verdict, Verdict::improvement);
  model.meta["ab_quota_period_ns"] = "100000000";
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::improvement) << comparison.reason;
  EXPECT_NEAR(comparison.speedup->value, 2, 0.1);
  EXPECT_NEAR(static_cast<double>(*comparison.before.iteration_ns_p50) / 1e6, 2, 0.2);
}

TEST(Compare, UnderAQuotaTheTimeBetweenRangesCounts) {
  TraceModel model =
      program_without_sites(200, [](std::uint32_t i) { return TimeNs{i < 100 ? 2'000'000 : 1'000'000}; });
  for (store::NvtxRow& range : model.nvtx) range.end = range.start + 900'000;
  EXPECT_NEAR(compare(model).speedup.value().value, 1, 0.01);
  model.stats.push_back({"throttled_ns", "", store::StatRow::Severity::info, model.span() / 10});
  const Comparison comparison = compare(model);
  EXPECT_NEAR(comparison.speedup.value().value, 2, 0.02);
  EXPECT_FALSE(comparison.per_time) << "it is the one that counts";
  EXPECT_TRUE(comparison.estimator.starts_with("the ratio of the times per iteration of one phase each"))
      << comparison.estimator;
}

TEST(Compare, WarmUpBeforeTheScheduleDoesNotCount) {
  const Comparison comparison = compare(blocks_program(8, 1'000'000, 1'000'000, 0.01, 6));
  for (const Segment& segment : comparison.segments) {
    for (const Iteration& iteration : segment.iterations) EXPECT_LT(iteration.duration(), 2'000'000);
  }
  EXPECT_NE(comparison.verdict, Verdict::improvement);
  EXPECT_NE(comparison.verdict, Verdict::regression);
}

TEST(Compare, ADamagedScheduleIsNoSchedule) {
  for (const char* damage : {"poll", "poll:1", "poll:x:y,park:3:2", ",,:::,", "park:99999999999999999999:1"}) {
    TraceModel model = blocks_program(8, 1'000'000, 1'000'000, 0.01, 6);
    model.meta["ab_phases"] = damage;
    EXPECT_FALSE(compare(model).speedup) << damage;
  }
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
  EXPECT_EQ(comparison.why, "one way of waiting");
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
  TraceModel model = phased_program({.phases = 8, .period = noisy(2'000'000, 1'000'000, 0.02, 9)});
  for (auto& cut : model.interventions) {
    const bool to_park = cut.new_mode == Mode::park;
    cut.old_mode = cut.new_mode = Mode::park;
    cut.old_strategy = to_park ? StrategyId::backoff : StrategyId::shared_watch;
    cut.new_strategy = to_park ? StrategyId::shared_watch : StrategyId::backoff;
  }
  const Comparison comparison = compare(model);
  EXPECT_EQ(comparison.verdict, Verdict::improvement);
  EXPECT_EQ(comparison.before.label, "park (backoff)");
  EXPECT_EQ(comparison.after.label, "park (shared_watch)");
}

TEST(Compare, CutsAtInterventionsOfOneSiteWithoutOthers) {
  TraceModel model = phased_program({.phases = 8, .period = noisy(2'000'000, 1'000'000, 0.02, 10)});
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
  const TraceModel slow = steady_program("slow.wicprof", 30'000'000);
  const TraceModel fast = steady_program("fast.wicprof", 1'000'000, 4);
  const Comparison better = compare(slow, fast);
  EXPECT_EQ(better.verdict, Verdict::improvement);
  EXPECT_NEAR(better.speedup->value, 30, 0.5);
  EXPECT_EQ(better.before.label, "slow.wicprof");
  EXPECT_EQ(better.after.label, "fast.wicprof");
  EXPECT_EQ(compare(fast, slow).verdict, Verdict::regression);
}

TEST(CompareTwo, OneRunEachHasARatioAndNoVerdict) {
  TraceModel model = steady_program("same.wicprof", 1'000'000);
  model.meta["command"] = "app --size 3";
  const Comparison same = compare(model, model);
  EXPECT_EQ(same.verdict, Verdict::inconclusive);
  EXPECT_EQ(same.why, "one run each");
  EXPECT_EQ(same.speedup->value, 1);
  EXPECT_NE(same.before.label, same.after.label);
  EXPECT_EQ(same.settle, "wic-prof run --repeat 6 -- app --size 3");
  const Comparison other = compare(model, steady_program("other.wicprof", 1'290'000));
  EXPECT_EQ(other.verdict, Verdict::inconclusive);
  EXPECT_NEAR(other.speedup->value, 1 / 1.29, 0.01);
  EXPECT_FALSE(other.settle.empty());
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

/// As under a CPU quota: while polling, one iteration of ten is stopped for a long time.
TraceModel throttled_program(TimeNs stopped) {
  auto random = std::make_shared<std::mt19937>(5);
  return phased_program({.phases = 12, .iterations = 60, .period = [=](Mode mode, std::size_t i) {
                           std::uniform_int_distribution<TimeNs> noise(0, 20'000);
                           const bool stops = mode == Mode::poll && i % 10 == 5;
                           return TimeNs{mode == Mode::poll ? 1'000'000 : 800'000} + noise(*random) +
                                  (stops ? stopped : 0);
                         }});
}

TEST(CompareWithin, SaysWhatMediansHide) {
  const Comparison hidden = compare(throttled_program(12'000'000));
  ASSERT_TRUE(hidden.speedup && hidden.per_time);
  EXPECT_NEAR(hidden.speedup->value, 1.25, 0.02);
  EXPECT_NEAR(hidden.per_time->value, 2.2 / 0.8, 0.1);
  EXPECT_GT(hidden.per_time->low, hidden.speedup->high);
  for (const char* part : {"iterations of park are 20 % shorter", "by iterations per time, they are 2.7",
                           "since medians leave out the few long iterations: 10.1 % of those of poll took 59",
                           "of the time, none of those of park was long"})
    EXPECT_NE(hidden.reason.find(part), std::string::npos) << part << " is not in: " << hidden.reason;

  // A rate that leads to another verdict counts: medians hide that a few iterations take all that the others save.
  const Comparison moved =
      compare(phased_program({.phases = 12, .iterations = 60, .period = [](Mode mode, std::size_t i) {
                                const bool takes_it_back = mode == Mode::park && i % 10 == 5;
                                return TimeNs{mode == Mode::poll ? 1'000'000
                                              : takes_it_back    ? 2'800'000
                                                                 : 800'000} +
                                       TimeNs(i * 7 % 5) * 1'000;
                              }}));
  EXPECT_EQ(moved.verdict, Verdict::no_change) << moved.reason;
  ASSERT_TRUE(moved.speedup && moved.per_time);
  EXPECT_NEAR(moved.speedup->value, 1, 0.01);
  EXPECT_EQ(moved.speedup->value, moved.per_time->value);
  EXPECT_NE(moved.estimator.find("times per iteration"), std::string::npos) << moved.estimator;
  EXPECT_NE(moved.reason.find("by medians, they are 20 % shorter"), std::string::npos) << moved.reason;

  for (const TimeNs stopped : {TimeNs{0}, TimeNs{60'000}}) {  // nothing, and less than the intervals tell
    const Comparison plain = compare(throttled_program(stopped));
    EXPECT_FALSE(plain.per_time) << stopped;
    EXPECT_EQ(plain.reason.find("per time"), std::string::npos) << plain.reason;
  }
}

}  // namespace
}  // namespace wicprof::analyzer
