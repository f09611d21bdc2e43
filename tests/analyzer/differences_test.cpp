// Differences per site and per edge, and comparisons of NVTX ranges and of many runs.
#include "analyzer/compare/differences.h"

#include <gtest/gtest.h>

#include "analyzer/compare/run_series.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

/// Two sites, "flag" and "other"; the parameters give the lengths of the second's waits and wake-ups.
TraceModel two_sites(const std::string& name, TimeNs other_period, TimeNs other_wake) {
  TraceModel model = empty_program();
  model.name = name;
  declare_site(model, 2, "other", WordMemory::device);
  const auto near = [](TimeNs period) {
    return [=](std::size_t i) { return period + static_cast<TimeNs>(i % 5) * 1'000; };
  };
  add_handoff(model, {.waiters = 4, .iterations = 40, .period = near(1'000'000)});
  add_handoff(model,
              {.site = 2, .waiters = 4, .iterations = 40, .wake_latency = other_wake, .period = near(other_period)});
  settle(model);
  return model;
}

TEST(Differences, ArePerSiteAndPerEdge) {
  const TraceModel before = two_sites("before", 1'000'000'000, 400'000), after = two_sites("after", 1'000'000, 100);
  const Comparison comparison = compare(before, after);
  ASSERT_EQ(comparison.differences.sites.size(), 2u);
  ASSERT_EQ(comparison.differences.edges.size(), 2u);
  for (const SiteDifference& site : comparison.differences.sites) {
    EXPECT_EQ(site.before_count, 160u);
    EXPECT_EQ(site.verdict, site.site == "flag" ? Verdict::inconclusive : Verdict::improvement) << site.site;
    ASSERT_TRUE(site.ratio);
    EXPECT_NEAR(site.ratio->value, site.site == "flag" ? 1 : 1000, 10);
    EXPECT_EQ(site.method, UnitMethod::spread);
  }
  for (const EdgeDifference& edge : comparison.differences.edges) {
    EXPECT_EQ(edge.from, "the CPU");
    EXPECT_EQ(edge.to, "GPU 0");
    EXPECT_EQ(edge.before_p50_ns, edge.site == "flag" ? 1'500 : 400'000);
    EXPECT_EQ(edge.verdict, edge.site == "flag" ? Verdict::inconclusive : Verdict::improvement) << edge.site;
    ASSERT_TRUE(edge.ratio);
    EXPECT_NEAR(edge.ratio->value, edge.site == "flag" ? 1 : 4000, 1);
  }
}

TEST(Differences, SayWhatWaitingHostThreadsTakeOfACpu) {
  // Waits of 1 ms in a call at site 2, of which one lacks its CPU time.
  const auto waits = [](const std::string& name, TimeNs cpu) {
    TraceModel model = two_sites(name, 1'000'000, 4'000);
    for (TimeNs i = 0; i < 20; ++i) {
      store::HostWaitRow wait{};
      wait.site = 2;
      wait.call = "cudaStreamSynchronize";
      wait.begin = model.begin + i * 1'100'000;
      wait.end = wait.begin + 1'000'000;
      if (i != 7) wait.cpu = cpu;
      model.host_waits.push_back(wait);
    }
    settle(model);
    return model;
  };
  const TraceModel before = waits("before", 1'000'000), after = waits("after", 50'000);
  for (const SiteDifference& site : compare(before, after).differences.sites) {
    EXPECT_EQ(site.before_cpu.has_value(), site.site == "other");
    if (site.site != "other") continue;
    EXPECT_NEAR(site.before_cpu.value_or(0), 1, 1e-9);
    EXPECT_NEAR(site.after_cpu.value_or(0), 0.05, 1e-9);
  }
}

TEST(Differences, WithinTheClocksErrorHaveNoVerdict) {
  TraceModel before = two_sites("before", 100'000'000, 400'000), after = two_sites("after", 1'000'000, 4'000);
  for (TraceModel* model : {&before, &after}) model->devices[1].clock_error_ns = 500'000;
  for (const EdgeDifference& edge : compare(before, after).differences.edges) {
    if (edge.site == "other") {
      EXPECT_EQ(edge.verdict, Verdict::inconclusive);
    }
  }
}

TEST(Differences, ASiteOfOneSideHasNoRatio) {
  const TraceModel before = two_sites("before", 1'000'000, 4'000);
  TraceModel after = before;
  after.waits.erase_if([](const auto& wait) { return wait.site == 2; });
  settle(after);
  for (const SiteDifference& site : compare(before, after).differences.sites) {
    EXPECT_EQ(site.ratio.has_value(), site.site == "flag");
    if (site.site == "other") {
      EXPECT_EQ(site.after_count, 0u);
      EXPECT_EQ(site.verdict, Verdict::inconclusive);
    }
  }
}

TEST(Differences, OfOneTraceAreBetweenItsPhases) {
  const TraceModel model =
      phased_program({.phases = 8, .period = [](Mode mode, std::size_t i) {
                        return TimeNs(mode == Mode::poll ? 3'000'000 : 1'000'000) + TimeNs(i % 3) * 100;
                      }});
  const Comparison comparison = compare(model);
  ASSERT_EQ(comparison.differences.sites.size(), 1u);
  EXPECT_NEAR(comparison.differences.sites[0].ratio->value, 3, 0.05);
  EXPECT_EQ(comparison.differences.sites[0].verdict, Verdict::improvement);
}

TEST(Differences, WithoutIterationsEachWaitIsAValue) {
  TraceModel before = two_sites("before", 1'000'000'000, 4'000), after = two_sites("after", 1'000'000, 4'000);
  for (TraceModel* model : {&before, &after}) {
    model->waits.edit_all([&](auto& wait) { wait.iteration = 0; });
  }
  for (const SiteDifference& site : compare(before, after).differences.sites) {
    EXPECT_EQ(site.verdict, site.site == "flag" ? Verdict::inconclusive : Verdict::improvement) << site.site;
  }
}

/// A program without waits that sets twenty ranges "step" of `length` on one thread, and another range beside them.
TraceModel ranges(const std::string& name, TimeNs length) {
  TraceModel model = empty_program();
  model.name = name;
  for (int i = 0; i < 20; ++i) {
    for (const auto& [what, domain, thread] : {std::tuple{"step", "solver", 7u}, std::tuple{"load", "", 8u}}) {
      store::NvtxRow row{};
      row.kind = NvtxKind::range;
      row.name = what;
      row.domain = domain;
      row.thread = thread;
      row.start = 1'000'000 + i * 10'000'000;
      row.end = row.start + (row.name == "step" ? length + i % 4 * 1'000 : 500'000);
      model.nvtx.push_back(row);
    }
  }
  settle(model);
  return model;
}

TEST(CompareRanges, TimesRangesOfThatName) {
  const TraceModel before = ranges("before", 9'000'000), after = ranges("after", 90'000);
  for (const char* name : {"step", "step@solver"}) {
    CompareOptions options;
    options.nvtx = name;
    const Comparison comparison = compare(before, after, options);
    EXPECT_EQ(comparison.verdict, Verdict::improvement) << comparison.reason;
    EXPECT_EQ(comparison.before.iterations, 20u);
    EXPECT_NEAR(comparison.speedup->value, 98, 2);
  }
  CompareOptions other;
  other.nvtx = "load";
  EXPECT_EQ(compare(before, after, other).speedup->value, 1);
}

TEST(CompareRanges, NamesMissingRanges) {
  CompareOptions options;
  options.nvtx = "step@elsewhere";
  const Comparison comparison = compare(ranges("before", 1'000), ranges("after", 1'000), options);
  EXPECT_FALSE(comparison.speedup);
  EXPECT_NE(comparison.reason.find("before holds no NVTX range step@elsewhere"), std::string::npos)
      << comparison.reason;
}

TEST(CompareRanges, AreTimedUnnamedWhereNothingWaits) {
  const Comparison comparison = compare(ranges("before", 9'000'000), ranges("after", 90'000));
  EXPECT_TRUE(comparison.measured_at.starts_with("NVTX range step")) << comparison.measured_at;
  EXPECT_NEAR(comparison.speedup->value, 98, 2);
}

TEST(CompareRuns, EachRunIsOneSegment) {
  // The runs of one side differ more than the sides do: many iterations must not hide that uncertainty.
  const auto run = [](TimeNs period) {
    TraceModel model = empty_program();
    add_handoff(model, {.waiters = 1, .iterations = 500, .period = [=](std::size_t i) {
                          return period + TimeNs(i % 3) * 100;
                        }});
    settle(model);
    return series_of(model);
  };
  const std::vector<RunSeries> before = {run(1'000'000), run(1'200'000), run(1'100'000), run(1'020'000)};
  const std::vector<RunSeries> after = {run(1'180'000), run(980'000), run(1'060'000), run(1'150'000)};
  const Comparison comparison = compare_runs(before, after, "a", "b");
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.method, UnitMethod::welch);
  EXPECT_EQ(compare_runs(before, before, "a", "b").before.iterations, 4u * 499u);
  EXPECT_FALSE(compare_runs(before, {}, "a", "b").speedup);
  std::vector<RunSeries> slower;
  for (const TimeNs period : {1'400'000, 1'420'000, 1'390'000, 1'410'000}) slower.push_back(run(period));
  EXPECT_EQ(compare_runs(before, slower, "a", "b").verdict, Verdict::regression);
  EXPECT_EQ(compare_runs({slower[0], slower[1]}, {slower[2], slower[3]}, "a", "b").why,
            "2 runs before and 2 runs after are too few");
}

TEST(CompareRuns, NotesSidesThatRanOneAfterTheOther) {
  std::vector<RunSeries> before, after;
  for (int i = 0; i < 4; ++i) {
    TraceModel model = empty_program();
    add_handoff(model, {.waiters = 1, .iterations = 20});
    settle(model);
    model.meta["started_ns"] = std::to_string(1'000 + i);
    before.push_back(series_of(model));
    model.meta["started_ns"] = std::to_string(2'000 + i);
    after.push_back(series_of(model));
  }
  EXPECT_EQ(compare_runs(before, after, "a", "b").notes.size(), 1u);
  std::swap(before[1], after[2]);
  EXPECT_TRUE(compare_runs(before, after, "a", "b").notes.empty());
}

TEST(Bootstrap, IsNoNarrowerForVeryManyValues) {
  std::vector<TimeNs> many;
  for (int i = 0; i < 200'000; ++i) many.push_back(1'000'000 + i * 7919 % 100'000);
  const Speedup speedup = bootstrap_ratio({many}, {many}, {200, 1});
  EXPECT_EQ(speedup.value, 1);
  EXPECT_LT(speedup.high, 1.02);
  EXPECT_GT(speedup.high, 1.0);
}

}  // namespace
}  // namespace wicprof::analyzer
