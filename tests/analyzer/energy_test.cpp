// What made readings of meters say of the modes.
#include "analyzer/compare/energy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "analyzer/compare/compare.h"

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kPhase = 3 * kSecond;
constexpr TimeNs kReading = kSecond / 2;

struct Powers {
  double poll = 400, park = 400;
  double of_phase = 0;    ///< standard deviation between phases
  double of_reading = 0;  ///< of single readings, in joules
};

/// A run of `run --ab` with blocks of one phase of each mode in random order, and one meter.
TraceModel made_run(int blocks, const Powers& powers, std::uint64_t seed) {
  TraceModel model;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::string phases;
  double joules = 0;
  TimeNs now = kSecond;
  model.begin = now;
  model.energy.push_back({1, "GPU 0", now, 0});
  for (int block = 0; block < blocks; ++block) {
    const bool poll_first = random() % 2 == 0;
    for (const bool second : {false, true}) {
      const bool polls = poll_first != second;
      phases += fmt::format("{}{}:{}:{}", phases.empty() ? "" : ",", polls ? "poll" : "park", now, now + kPhase);
      const double watts = (polls ? powers.poll : powers.park) + powers.of_phase * normal(random);
      for (const TimeNs end = now + kPhase; now < end;) {
        now += kReading;
        joules += watts * static_cast<double>(kReading) / kSecond;
        const double seen = joules + powers.of_reading * normal(random);
        model.energy.push_back({model.energy.back().id + 1, "GPU 0", now, static_cast<std::uint64_t>(seen * 1e6)});
      }
    }
  }
  model.end = now;
  model.meta["ab_phases"] = phases;
  return model;
}

std::vector<EnergyUse> use_of(const TraceModel& model) {
  std::vector<std::string> notes;
  return energy_use(model, find_segments(model, notes));
}

TEST(Energy, WhatPollingTakesMore) {
  const std::vector<EnergyUse> uses = use_of(made_run(20, {430, 400, 2, 1}, 7));
  ASSERT_EQ(uses.size(), 1u);
  const EnergyUse& use = uses[0];
  EXPECT_EQ(use.meter, "GPU 0");
  EXPECT_EQ(use.poll_segments, 20u);
  EXPECT_EQ(use.park_segments, 20u);
  EXPECT_NEAR(use.watts(), 415, 2);
  ASSERT_TRUE(use.is_resolved());
  EXPECT_NEAR(use.more_watts(), 30, 3);
  EXPECT_LT(use.least_watts(), 30);
  EXPECT_GT(use.most_watts(), 30);
  EXPECT_NEAR(use.polling_joules(), 30 * 60, 200);
}

TEST(Energy, EqualModesAreBelowResolutionInMostRuns) {
  int told_apart = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    told_apart += use_of(made_run(10, {400, 400, 3, 1}, seed)).at(0).is_resolved() ? 1 : 0;
  EXPECT_LE(told_apart, 20);  // 5 % on average
}

TEST(Energy, ComparisonsOfTheModesHaveThePowerToo) {
  const Comparison comparison = compare(made_run(20, {430, 400, 2, 1}, 7));
  ASSERT_EQ(comparison.differences.meters.size(), 1u);
  const MeterDifference& meter = comparison.differences.meters[0];
  EXPECT_EQ(meter.meter, "GPU 0");
  EXPECT_EQ(meter.before_windows, 20u);
  EXPECT_EQ(meter.method, UnitMethod::blocks);
  EXPECT_EQ(meter.verdict, Verdict::improvement);
  EXPECT_NEAR(meter.before_watts, 430, 3);
  EXPECT_NEAR(meter.after_watts, 400, 3);
  EXPECT_GT(meter.ratio->low, 1);
}

TEST(Energy, TwoRunsDifferByTheirSpreadAlone) {
  const auto between = [](double before, double after) {
    const Comparison comparison = compare(made_run(2, {before, before}, 1), made_run(2, {after, after}, 2));
    return comparison.differences.meters.at(0);
  };
  EXPECT_EQ(between(430, 400).method, UnitMethod::spread);
  EXPECT_EQ(between(430, 400).verdict, Verdict::inconclusive);
  EXPECT_NEAR(between(430, 400).ratio->value, 430.0 / 400, 0.01);
  EXPECT_EQ(between(430, 200).verdict, Verdict::improvement);
  EXPECT_EQ(between(200, 430).verdict, Verdict::regression);
}

TEST(Energy, ATraceWithoutMetersHasNoPowerToCompare) {
  TraceModel without = made_run(2, {}, 1);
  without.energy.clear();
  EXPECT_TRUE(compare(without, made_run(2, {}, 2)).differences.meters.empty());
}

TEST(Energy, JoulesPerIterationNeedIterations) {
  Side side;
  EXPECT_FALSE(joules_per_iteration(400, side));
  side.iteration_ns_p50 = kSecond / 2;
  EXPECT_DOUBLE_EQ(*joules_per_iteration(400, side), 200);
}

TEST(Energy, OneModeAloneSaysNothingOfPolling) {
  TraceModel model = made_run(4, {}, 1);
  model.meta.clear();
  const std::vector<EnergyUse> uses = use_of(model);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_FALSE(uses[0].ratio);
  EXPECT_NEAR(uses[0].watts(), 400, 1);
  EXPECT_EQ(uses[0].park_segments, 0u);
}

TEST(Energy, PhasesThatAreTooShortDoNotCount) {
  TraceModel model = made_run(4, {430, 400, 0, 0}, 1);
  std::erase_if(model.energy, [](const store::EnergyRow& row) { return row.id % 4 != 1; });  // every 2 s
  const std::vector<EnergyUse> uses = use_of(model);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].poll_segments + uses[0].park_segments, 0u);
  EXPECT_FALSE(uses[0].ratio);
}

TEST(Energy, NoReadingsNoMeters) { EXPECT_TRUE(use_of(TraceModel()).empty()); }

/// Sites of a made program: how many waiters poll at a time, in the mean, how much that varies from block to block, and
/// what one of them takes.
struct MadeSite {
  double waiters = 0, varies = 0, watts = 0;
  bool switched = true;  ///< else its waiters poll in all phases
};

/// made_run() with waits at these sites in the polling phases, whose power follows the waiters.
TraceModel run_with_sites(int blocks, const std::vector<MadeSite>& sites, double of_phase, std::uint64_t seed) {
  TraceModel model = made_run(blocks, {}, seed);
  std::mt19937_64 random(seed + 1'000'000);
  std::normal_distribution<double> normal;
  std::vector<std::string> notes;
  for (SiteId site = 1; site <= sites.size(); ++site) {
    store::SiteRow& row = model.sites.emplace_back();
    row.id = site;
    row.name = fmt::format("site{}", site);
  }
  double more = 0;  // joules, up to the phase
  std::size_t reading = 1;
  for (const Segment& segment : find_segments(model, notes)) {
    double watts = of_phase * normal(random);
    for (SiteId site = 1; site <= sites.size(); ++site) {
      const MadeSite& made = sites[site - 1];
      if (segment.mode == Mode::park && made.switched) continue;
      const double waiters = std::max(0.0, made.waiters + made.varies * normal(random));
      watts += made.watts * waiters;
      // One thread after another, each of which waits for a part of the phase.
      for (double left = waiters; left > 0; left -= 1) {
        store::HostWaitRow wait{};
        wait.site = site;
        wait.begin = segment.begin_ns;
        wait.end = segment.begin_ns + static_cast<TimeNs>(std::min(left, 1.0) * static_cast<double>(kPhase));
        model.host_waits.push_back(wait);
      }
    }
    for (; reading < model.energy.size() && model.energy[reading].at <= segment.end_ns; ++reading) {
      const double since = static_cast<double>(model.energy[reading].at - segment.begin_ns) / kSecond;
      model.energy[reading].energy_uj += static_cast<std::uint64_t>((1'000 + more + watts * since) * 1e6);
    }
    more += watts * static_cast<double>(kPhase) / kSecond;
  }
  model.energy.front().energy_uj += 1'000'000'000;
  settle(model);
  return model;
}

TEST(SiteEnergy, TellsApartWhatTheSitesTake) {
  const std::vector<EnergyUse> uses = use_of(run_with_sites(20, {{8, 3, 5}, {4, 2, 0.5}}, 1, 3));
  ASSERT_EQ(uses.at(0).sites.size(), 2u);
  const SiteEnergy &heavy = uses[0].sites[0], &light = uses[0].sites[1];
  EXPECT_EQ(heavy.site, "site1");
  EXPECT_NEAR(heavy.waiters, 8, 2);
  EXPECT_NEAR(heavy.polling.watts.value / heavy.waiters, 5, 0.3);
  EXPECT_TRUE(heavy.is_resolved());
  EXPECT_NEAR(heavy.joules, heavy.polling.watts.value * 60, 1);
  EXPECT_NEAR(light.polling.watts.value / light.waiters, 0.5, 0.3);
}

TEST(SiteEnergy, IntervalsHoldTheTruth) {
  int held = 0, told_apart = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<SiteEnergy> sites = use_of(run_with_sites(12, {{8, 3, 5}, {6, 3, 0}}, 6, seed)).at(0).sites;
    for (const SiteEnergy& site : sites) {
      const double truth = site.waiters * (site.site == "site1" ? 5 : 0);
      held += site.polling.watts.low <= truth && truth <= site.polling.watts.high ? 1 : 0;
      told_apart += site.site == "site2" && site.is_resolved() ? 1 : 0;
    }
  }
  EXPECT_GE(held, 368);  // 380 of 400 on average
  EXPECT_LE(told_apart, 20);
}

TEST(SiteEnergy, SitesOfOnePatternAreNotToldApart) {
  EXPECT_TRUE(use_of(run_with_sites(20, {{8, 0, 5}, {4, 0, 5}}, 1, 5)).at(0).sites.empty());
  EXPECT_EQ(use_of(run_with_sites(20, {{8, 0, 5}}, 1, 5)).at(0).sites.size(), 1u);
}

TEST(SiteEnergy, SitesThatWereNotSwitchedHaveNone) {
  const std::vector<SiteEnergy> sites = use_of(run_with_sites(20, {{8, 3, 5}, {6, 0.2, 5, false}}, 1, 5)).at(0).sites;
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].site, "site1");
  EXPECT_NEAR(sites[0].polling.watts.value, 5 * sites[0].waiters, 3);
}

TEST(SiteEnergy, NeedsBlocksOfBothModes) {
  EXPECT_TRUE(use_of(run_with_sites(3, {{8, 3, 5}}, 1, 5)).at(0).sites.empty());
  TraceModel one_mode = run_with_sites(20, {{8, 3, 5}}, 1, 5);
  one_mode.meta.clear();
  EXPECT_TRUE(use_of(one_mode).at(0).sites.empty());
}

TEST(SiteEnergy, SmallSitesShareARow) {
  std::vector<MadeSite> sites(9, {2, 1, 1});
  sites[8] = {0.05, 0.02, 1};  // less than a hundredth of all
  const std::vector<SiteEnergy> found = use_of(run_with_sites(40, sites, 1, 5)).at(0).sites;
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found.back().site, "");
  EXPECT_NEAR(found.back().polling.watts.value, 4.05, 2);
}

/// energy_use() with iterations that take `poll` and `park` in the phases of these modes.
std::vector<EnergyUse> use_with_iterations(const TraceModel& model, TimeNs poll, TimeNs park) {
  std::vector<std::string> notes;
  std::vector<Segment> segments = find_segments(model, notes);
  for (Segment& segment : segments) segment.iteration_ns_p50 = segment.mode == Mode::park ? park : poll;
  return energy_use(model, segments);
}

TEST(SiteEnergy, CountsWhatLongerIterationsTake) {
  // 400 W; polling takes 10 W, and makes an iteration of 10 ms one of 20 ms.
  const TraceModel model = run_with_sites(20, {{2, 0.2, 5}}, 1, 5);
  const std::vector<EnergyUse> uses = use_with_iterations(model, 20'000'000, 10'000'000);
  const std::optional<Estimate> joules = uses.at(0).sites.at(0).polling.joules_per_iteration;
  ASSERT_TRUE(joules && joules->is_resolved());
  EXPECT_NEAR(joules->value, 410 * 0.02 - 400 * 0.01, 0.1);
  EXPECT_FALSE(use_of(model).at(0).sites.at(0).polling.joules_per_iteration);
}

TEST(SiteEnergy, ComparisonsOfTheModesSayWhatParkingSaves) {
  const TraceModel model = run_with_sites(20, {{8, 3, 5}, {4, 2, 0}}, 1, 3);
  const std::vector<SiteEnergyDifference> rows = compare(model).differences.site_energy;
  ASSERT_EQ(rows.size(), 2u);
  const SiteEnergyDifference& row = rows[0];
  const Estimate watts = use_of(model).at(0).sites.at(0).polling.watts;
  EXPECT_EQ(row.site, "site1");
  EXPECT_EQ(row.meter, "GPU 0");
  EXPECT_EQ(row.before->watts.value, watts.value);
  EXPECT_EQ(row.after->watts.value, 0);
  EXPECT_DOUBLE_EQ(row.more->watts.value, -watts.value);
  EXPECT_DOUBLE_EQ(row.more->watts.low, -watts.high);
  EXPECT_DOUBLE_EQ(row.more->watts.high, -watts.low);
  EXPECT_FALSE(rows[1].more->watts.is_resolved());
}

TEST(SiteEnergy, ComparisonsOfTracesHaveWhatEachSiteTakesInBoth) {
  TraceModel before = run_with_sites(20, {{8, 3, 5}, {4, 2, 2}}, 1, 3);
  TraceModel after = run_with_sites(20, {{8, 3, 1}, {4, 2, 2}, {4, 2, 1}}, 1, 4);
  const std::vector<SiteEnergyDifference> rows = compare(before, after).differences.site_energy;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows[0].before->watts.value, 40, 10);
  EXPECT_NEAR(rows[0].after->watts.value, 8, 4);
  EXPECT_TRUE(rows[0].more->watts.is_resolved());
  EXPECT_LT(rows[0].more->watts.low, -32);
  EXPECT_GT(rows[0].more->watts.high, -32);
  EXPECT_EQ(rows[2].site, "site3");
  EXPECT_FALSE(rows[2].before || rows[2].more);
  after.meta.clear();  // one way of waiting
  const std::vector<SiteEnergyDifference> one_side = compare(before, after).differences.site_energy;
  ASSERT_EQ(one_side.size(), 2u);
  EXPECT_TRUE(one_side[0].before && !one_side[0].after && !one_side[0].more);
}

TEST(SiteEnergy, IntervalsOfDifferencesHoldTheTruth) {
  int held = 0, told_apart = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<EnergyUse> before = use_of(run_with_sites(12, {{8, 3, 5}, {6, 3, 2}}, 6, seed));
    const std::vector<EnergyUse> after = use_of(run_with_sites(12, {{8, 3, 2}, {6, 3, 2}}, 6, seed + 1'000));
    for (const SiteEnergyDifference& row : site_energy_differences(before, &after)) {
      const double was = row.site == "site1" ? 5 : 2;
      const SiteEnergy& site = before[0].sites[row.site == before[0].sites[0].site ? 0 : 1];
      const SiteEnergy& same = after[0].sites[row.site == after[0].sites[0].site ? 0 : 1];
      const double truth = same.waiters * 2 - site.waiters * was;
      held += row.more->watts.low <= truth && truth <= row.more->watts.high ? 1 : 0;
      told_apart += row.site == "site1" && row.more->watts.is_resolved() ? 1 : 0;
    }
  }
  EXPECT_GE(held, 180);  // 190 of 200 on average
  EXPECT_GE(told_apart, 50);
}

}  // namespace
}  // namespace wicprof::analyzer
