// Verdicts of simulated programs whose true change is known: false verdicts where nothing changed, and small changes
// found. The simulated noise is of the kinds that recorded programs have: iterations resemble their neighbours, phases
// wander, runs differ, and some runs are slow throughout.
#include "analyzer/measure/unit_ratio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

using Random = std::mt19937_64;

double normal(Random& random) { return std::normal_distribution<double>(0, 1)(random); }

/// The logarithm of the median of `count` iterations of mean 1 whose neighbours have a correlation of 0.7.
double phase_median(Random& random, std::size_t count, double spread) {
  std::vector<TimeNs> times;
  double state = normal(random);
  constexpr double kCorrelation = 0.7;
  for (std::size_t i = 0; i < count; ++i) {
    state = kCorrelation * state + std::sqrt(1 - kCorrelation * kCorrelation) * normal(random);
    times.push_back(static_cast<TimeNs>(1e9 * std::exp(spread * state)));
  }
  return std::log(static_cast<double>(percentile(std::move(times), 50)));
}

struct Noise {
  double iteration = 0.05;  ///< standard deviation of the logarithm, within a phase
  double walk = 0;          ///< of a random walk, per phase
  double drift = 0;         ///< over all phases
  double phase = 0.01;      ///< of each phase on its own
  double correlation = 0;   ///< of a phase's own part with that of the phase before
};

/// `change`: the factor by which the side after is slower. Blocks in random order, or strict turns without blocks.
std::vector<Unit> phases(Random& random, std::size_t pairs, double change, const Noise& noise, bool blocks) {
  std::vector<Unit> units;
  double level = 0, own = normal(random);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const bool after_first = blocks && random() % 2 == 0;
    for (const bool second : {false, true}) {
      const bool after = after_first != second;
      level += noise.walk * normal(random) + noise.drift / static_cast<double>(2 * pairs);
      own = noise.correlation * own + std::sqrt(1 - noise.correlation * noise.correlation) * normal(random);
      const double log_time =
          phase_median(random, 30, noise.iteration) + level + noise.phase * own + (after ? std::log(change) : 0);
      const auto at = static_cast<TimeNs>(units.size());
      units.push_back({after, at, blocks ? std::optional(static_cast<std::uint32_t>(pair)) : std::nullopt, log_time});
    }
  }
  return units;
}

struct Count {
  int changes = 0;  ///< verdicts "improvement" and "regression"
  int of = 0;
  double share() const { return static_cast<double>(changes) / of; }
};

Count verdicts(int rounds, const std::function<UnitRatio(Random&)>& measure, double tolerance = 0.02) {
  Count count;
  for (int round = 0; round < rounds; ++round) {
    Random random(static_cast<std::uint64_t>(round) + 1);
    const Verdict verdict = judge(measure(random).speedup, tolerance);
    count.changes += verdict == Verdict::improvement || verdict == Verdict::regression ? 1 : 0;
    ++count.of;
  }
  return count;
}

constexpr int kRounds = 400;
/// 5 % and three standard deviations of a share of 400.
constexpr double kMost = 0.05 + 3 * 0.0109;

TEST(UnitRatio, EqualPhasesHaveFewVerdicts) {
  const Noise noises[] = {{},
                          {.walk = 0.02},
                          {.drift = 0.5},
                          {.phase = 0.05},
                          {.walk = 0.01, .drift = 0.2, .phase = 0.05, .correlation = 0.6}};
  for (const Noise& noise : noises) {
    for (const std::size_t pairs : {6u, 12u, 40u}) {
      for (const bool blocks : {true, false}) {
        const Count count = verdicts(kRounds, [&](Random& random) {
          return unit_ratio(phases(random, pairs, 1, noise, blocks), {.phases = true});
        });
        EXPECT_LE(count.share(), kMost) << pairs << " pairs, blocks " << blocks << ", walk " << noise.walk << ", drift "
                                        << noise.drift << ", phase " << noise.phase;
      }
    }
  }
}

TEST(UnitRatio, IntervalsOfPhasesHaveTheirCoverage) {
  for (const bool blocks : {true, false}) {
    int missed = 0;
    for (int round = 0; round < kRounds; ++round) {
      Random random(static_cast<std::uint64_t>(round) + 1);
      const UnitRatio ratio = unit_ratio(phases(random, 10, 1.1, {.phase = 0.05}, blocks), {.phases = true});
      missed += ratio.speedup.low > 1 / 1.1 || ratio.speedup.high < 1 / 1.1 ? 1 : 0;
    }
    EXPECT_LE(missed, kRounds * kMost) << blocks;
    EXPECT_GE(missed, kRounds * 0.005) << "an interval that hardly ever misses is too wide: blocks " << blocks;
  }
}

TEST(UnitRatio, AChangeOfThreePercentIsFound) {
  // A minute of phases of 0.2 s, in which both phases and the whole program wander.
  const Count count = verdicts(kRounds, [](Random& random) {
    return unit_ratio(phases(random, 150, 1.03, {.walk = 0.005, .phase = 0.03}, true), {.phases = true});
  });
  EXPECT_GE(count.share(), 0.8);
}

TEST(UnitRatio, ARunThatLooksAndEndsEarlyKeepsItsError) {
  // Looks after every block from the sixth on, and ends at the first interval without 1: the worst that a rule can do.
  Count count;
  double narrow = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<std::uint64_t>(round) + 1);
    const std::vector<Unit> all = phases(random, 60, 1, {.phase = 0.05}, true);
    bool changed = false;
    for (std::size_t blocks = kFewestBlocks; blocks <= 60 && !changed; ++blocks) {
      const std::vector<Unit> seen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(2 * blocks));
      const bool last = blocks == 60;
      const UnitRatio ratio = unit_ratio(seen, {.phases = true, .may_stop = true, .stopped = !last});
      changed = ratio.speedup.low > 1 || ratio.speedup.high < 1;
      if (last) narrow += ratio.speedup.high - ratio.speedup.low;
    }
    count.changes += changed ? 1 : 0;
    ++count.of;
  }
  EXPECT_LE(count.share(), kMost);
  // A t-interval at each look would end with a verdict far more often.
  int naive = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(static_cast<std::uint64_t>(round) + 1);
    const std::vector<Unit> all = phases(random, 60, 1, {.phase = 0.05}, true);
    bool changed = false;
    for (std::size_t blocks = kFewestBlocks; blocks <= 60 && !changed; ++blocks) {
      const std::vector<Unit> seen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(2 * blocks));
      const UnitRatio ratio = unit_ratio(seen, {.phases = true});
      changed = ratio.speedup.low > 1 || ratio.speedup.high < 1;
    }
    naive += changed ? 1 : 0;
  }
  EXPECT_GT(static_cast<double>(naive) / kRounds, 0.12);
}

TEST(UnitRatio, AnytimeWidthShrinksAndNeedsBlocks) {
  Random random(3);
  std::vector<double> differences;
  double last = 0;
  for (int i = 0; i < 200; ++i) {
    differences.push_back(0.05 * normal(random));
    const std::optional<double> width = anytime_half_width(differences, kMissAtLooks);
    if (i == 0) {
      EXPECT_FALSE(width);
    }
    if (i == 20) last = width.value();
  }
  EXPECT_LT(anytime_half_width(differences, kMissAtLooks).value(), last / 2);
}

/// One value per run. `slow`: the share of runs that are 10 % slow throughout.
std::vector<Unit> runs(Random& random, std::size_t before, std::size_t after, double change, double spread,
                       double slow) {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < before + after; ++i) {
    const bool is_after = i >= before;
    const bool is_slow = std::uniform_real_distribution<double>(0, 1)(random) < slow;
    units.push_back({is_after, static_cast<TimeNs>(i), std::nullopt,
                     20 + spread * normal(random) + (is_slow ? std::log(1.1) : 0) + (is_after ? std::log(change) : 0)});
  }
  return units;
}

TEST(UnitRatio, EqualRunsHaveFewVerdicts) {
  for (const auto& [before, after] : {std::pair{1u, 6u}, {2u, 12u}, {3u, 5u}, {4u, 4u}, {6u, 6u}, {12u, 12u}}) {
    for (const double spread : {0.001, 0.01, 0.05}) {
      for (const double slow : {0.0, 0.1, 0.3, 0.5}) {
        const Count count = verdicts(kRounds, [&, b = before, a = after](Random& random) {
          return unit_ratio(runs(random, b, a, 1, spread, slow), {.spread = 2});
        });
        EXPECT_LE(count.share(), kMost) << before << " and " << after << " runs, spread " << spread << ", slow "
                                        << slow;
      }
    }
  }
}

TEST(UnitRatio, FewRunsHaveNoVerdictWithinTheKnownSpread) {
  for (const auto& [before, after] : {std::pair{1u, 1u}, {1u, 3u}, {2u, 2u}, {2u, 8u}, {3u, 3u}}) {
    const Count count = verdicts(kRounds, [&, b = before, a = after](Random& random) {
      return unit_ratio(runs(random, b, a, 1, 0.001, 0.3), {.spread = 1.25});
    });
    EXPECT_EQ(count.changes, 0) << before << " and " << after;
  }
}

TEST(UnitRatio, SixRunsFindFivePercentWhereRunsVaryByOne) {
  const Count count =
      verdicts(kRounds, [](Random& random) { return unit_ratio(runs(random, 6, 6, 1.05, 0.01, 0), {.spread = 2}); });
  EXPECT_GE(count.share(), 0.95);
}

TEST(UnitRatio, TellsWhichMethodItUsed) {
  Random random(1);
  EXPECT_EQ(unit_ratio({}, {}).method, UnitMethod::none);
  EXPECT_EQ(unit_ratio(runs(random, 1, 1, 1, 0.01, 0), {.spread = 2}).method, UnitMethod::spread);
  EXPECT_EQ(unit_ratio(runs(random, 4, 4, 1, 0.01, 0), {.spread = 2}).method, UnitMethod::welch);
  EXPECT_EQ(unit_ratio(runs(random, 1, 6, 1, 0.01, 0), {.spread = 2}).method, UnitMethod::pooled);
  EXPECT_EQ(unit_ratio(phases(random, 4, 1, {}, false), {.phases = true, .spread = 2}).method, UnitMethod::drift);
  EXPECT_EQ(unit_ratio(phases(random, 6, 1, {}, true), {.phases = true, .spread = 2}).method, UnitMethod::blocks);
  EXPECT_EQ(unit_ratio(phases(random, 6, 1, {}, true), {.phases = true, .may_stop = true, .stopped = true}).method,
            UnitMethod::looks);
  // All of one side before all of the other: drift and change cannot be distinguished.
  std::vector<Unit> in_turn;
  for (int i = 0; i < 8; ++i) in_turn.push_back({i >= 4, i < 4 ? 0 : 1, std::nullopt, 20 + 0.001 * i});
  EXPECT_EQ(unit_ratio(in_turn, {.phases = true, .spread = 2}).method, UnitMethod::spread);
}

}  // namespace
}  // namespace wicprof::analyzer
