// The timeline of the HTML report: its lanes, the size of its data, and that aggregation keeps the total time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/machine_code/kernel_polling.h"
#include "reports/html/alignment.h"
#include "reports/html/charts.h"
#include "reports/html/lane_row.h"
#include "reports/html/lanes.h"
#include "reports/html/timeline_data.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports::html {
namespace {

using Json = nlohmann::json;

TraceModel polled_and_parked(std::size_t iterations) {
  return synthetic::phased_program({.phases = 2, .iterations = iterations, .period = [](Mode mode, std::size_t i) {
                                      return TimeNs(mode == Mode::poll ? 300'000 : 100'000) +
                                             TimeNs(i * 9'973 % 50'000);
                                    }});
}

struct Timeline {
  Lanes lanes;
  std::vector<Interval> fine;
  Json json;
};

Timeline timeline_of(const TraceModel& model) {
  const Analysis analysis = analyze(model);
  Timeline made{
      gather_lanes(model, analysis, match(model).edges, close_ups(model, analysis)), close_ups(model, analysis), {}};
  made.json = Json::parse(timeline_json(model, made.lanes, made.fine));
  return made;
}

std::size_t entries_of(const Json& lane) {
  return lane.contains("steps") ? lane["steps"].size() / (1 + lane["doing"].size()) : lane["spans"].size() / 5;
}

/// Waiter-nanoseconds of each state.
std::map<std::string, double> times_of(const Json& lane, TimeNs end) {
  std::map<std::string, double> sums;
  const std::size_t each = 1 + lane["doing"].size();
  TimeNs at = 0;
  for (std::size_t i = 0; i < entries_of(lane); ++i) {
    at += lane["steps"][i * each].get<TimeNs>();
    const TimeNs next = i + 1 < entries_of(lane) ? at + lane["steps"][(i + 1) * each].get<TimeNs>() : end;
    for (std::size_t k = 1; k < each; ++k) {
      sums[lane["doing"][k - 1]] += lane["steps"][i * each + k].get<double>() / 100 * static_cast<double>(next - at);
    }
  }
  return sums;
}

std::map<std::string, double> times_of(const Lane& lane) {
  std::map<std::string, double> sums;
  for (const Stretch& stretch : lane.stretches)
    sums[std::string(look_of(stretch.state).token)] += static_cast<double>(stretch.when.end - stretch.when.begin);
  return sums;
}

TEST(ReportTimeline, ASmallTraceIsExact) {
  const TraceModel model = polled_and_parked(20);
  const Timeline timeline = timeline_of(model);
  ASSERT_EQ(timeline.json["lanes"].size(), timeline.lanes.list.size());
  std::size_t waits = 0;
  for (std::size_t i = 0; i < timeline.lanes.list.size(); ++i) {
    const Lane& lane = timeline.lanes.list[i];
    if (!lane.counted) continue;
    for (const auto& [state, time] : times_of(lane))
      EXPECT_DOUBLE_EQ(times_of(timeline.json["lanes"][i], model.span())[state], time);
    waits += lane.stretches.size();
  }
  EXPECT_EQ(waits, model.waits.size());
}

TEST(ReportTimeline, ALargeTraceIsAggregatedWithoutLosingTime) {
  const TraceModel model = polled_and_parked(20'000);
  const Timeline timeline = timeline_of(model);
  EXPECT_GT(model.waits.size(), 300'000u);
  const std::size_t most = most_entries(timeline.lanes.list.size());
  EXPECT_LT(most, 6'000u) << "a few thousand";
  bool aggregated = false;
  for (std::size_t i = 0; i < timeline.lanes.list.size(); ++i) {
    const Lane& lane = timeline.lanes.list[i];
    const Json& json = timeline.json["lanes"][i];
    EXPECT_LE(entries_of(json), most) << lane.name;
    aggregated = aggregated || entries_of(json) < lane.stretches.size();
    if (!lane.counted) continue;
    for (const auto& [state, time] : times_of(lane))
      EXPECT_NEAR(times_of(json, model.span())[state] / time, 1, 0.005) << state;
  }
  EXPECT_TRUE(aggregated);
  EXPECT_LT(timeline.json.dump().size(), 1'000'000u);
}

TEST(ReportTimeline, SingleWaitsAreVisibleAroundAChange) {
  const TraceModel model = polled_and_parked(20'000);
  const Timeline timeline = timeline_of(model);
  ASSERT_EQ(timeline.fine.size(), 1u);
  const Interval fine = timeline.fine[0];
  EXPECT_LT(fine.begin, model.interventions[0].effective);
  EXPECT_GT(fine.end, model.interventions[0].effective);
  for (const Json& lane : timeline.json["lanes"]) {
    if (!lane.contains("steps")) continue;
    TimeNs at = 0;
    bool whole = true;  // numbers of waiters are integers unless they are means
    std::size_t steps = 0;
    for (std::size_t i = 0; i < entries_of(lane); ++i) {
      const std::size_t each = 1 + lane["doing"].size();
      at += lane["steps"][i * each].get<TimeNs>();
      if (at < fine.begin - model.begin || at >= fine.end - model.begin) continue;
      ++steps;
      for (std::size_t k = 1; k < each; ++k) whole = whole && lane["steps"][i * each + k].get<int>() % 100 == 0;
    }
    EXPECT_TRUE(whole) << lane["name"];
    EXPECT_GT(steps, 8u) << lane["name"];
  }
  EXPECT_FALSE(timeline.json["arrows"].empty());
  for (const Json& arrow : timeline.json["arrows"]) {
    EXPECT_EQ(timeline.json["lanes"][arrow[0].get<std::size_t>()]["name"], "signals");
    EXPECT_GE(arrow[1].get<TimeNs>(), fine.begin - model.begin);
    EXPECT_LE(arrow[3].get<TimeNs>(), fine.end - model.begin);
    EXPECT_LE(arrow[1].get<TimeNs>(), arrow[3].get<TimeNs>());
  }
}

TEST(ReportTimeline, OverlappingWorkInOneStreamGetsFurtherRows) {
  TraceModel model = polled_and_parked(20);
  const auto kernel = [&](TimeNs begin, TimeNs end) {
    store::KernelRow row{};
    row.name = "void halo(float*)";
    row.start = model.begin + begin;
    row.end = model.begin + end;
    row.stream = 7;
    model.kernels.push_back(row);
  };
  kernel(0, 1'000);
  kernel(500, 2'000);
  kernel(2'000, 3'000);
  settle(model);
  const Timeline timeline = timeline_of(model);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < timeline.lanes.list.size(); ++i) {
    if (timeline.lanes.list[i].group == "Streams") rows.push_back(i);
  }
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(timeline.lanes.list[rows[0]].stretches.size(), 2u);
  const Json& lane = timeline.json["lanes"][rows[0]];
  EXPECT_EQ(lane["spans"], Json::parse(R"([0, 1000, 0, 1, 1, 2000, 1000, 0, 1, 1])"));
  EXPECT_EQ(timeline.json["labels"][1], "halo");
}

TEST(ReportTimeline, KernelsAreHatchedAsFarAsTheirSamplesPoll) {
  const TraceModel model = synthetic::polling_program();
  const Timeline timeline = timeline_of(model);
  const auto polling = analyzer::polling_of_kernel(analyze(model).polling_loops, 0, "poll");
  ASSERT_TRUE(polling);
  std::map<std::string, std::set<int>> shares;  // by the label of the kernels
  for (const Json& lane : timeline.json["lanes"]) {
    if (!lane.contains("polling")) continue;
    ASSERT_EQ(lane["polling"].size() * 5, lane["spans"].size());
    for (std::size_t i = 0; i < lane["polling"].size(); ++i)
      shares[timeline.json["labels"][lane["spans"][i * 5 + 3].get<int>()]].insert(lane["polling"][i].get<int>());
  }
  EXPECT_EQ(shares["poll"], std::set<int>{static_cast<int>(std::round(100 * polling->share))});
  for (const auto& [label, of] : shares) EXPECT_TRUE(label == "poll" || of == std::set<int>{0}) << label;

  const Interval all{model.begin, model.end};
  const std::string still = still_timeline(model, timeline.lanes, all);
  const std::size_t pattern = still.find("<pattern id=\"");
  ASSERT_NE(pattern, still.npos);
  const std::size_t name = pattern + std::string_view("<pattern id=\"").size();
  const std::string id = still.substr(name, still.find('"', name) - name);
  EXPECT_NE(still.find("fill=\"url(#" + id + ")\""), still.npos);
  const TraceModel waits = polled_and_parked(20);
  EXPECT_EQ(still_timeline(waits, timeline_of(waits).lanes, {waits.begin, waits.end}).find("<pattern"), still.npos);
}

/// A million calls in two states, close to each other, in a trace with a close-up.
TEST(LaneRow, IsBoundedAndKeepsTimeAndCount) {
  constexpr TimeNs kStep = 1'000, kEvents = 1'000'000;
  const Interval fine{500'000 * kStep, 500'010 * kStep};
  const Grains grains({0, kStep * kEvents}, {fine});
  for (const bool counted : {false, true}) {
    LaneRow row(counted);
    std::array<TimeNs, 2> want{};
    for (TimeNs i = 0; i < kEvents; ++i) {
      const State state = i % 3 == 0 ? State::transferring : State::computing;
      const TimeNs length = 200 + i % 300;
      want[state == State::computing] += length;
      row.add({{i * kStep, i * kStep + length}, state, static_cast<std::uint32_t>(1 + i % 2), 1, 0.5F}, grains);
    }
    EXPECT_EQ(row.time(), want[0] + want[1]);
    std::array<TimeNs, 2> got{};
    std::uint64_t events = 0;
    std::size_t single = 0;
    const std::vector<Stretch> list = row.take();
    for (const Stretch& stretch : list) {
      got[stretch.state == State::computing] += stretch.length();
      events += stretch.count;
      EXPECT_FLOAT_EQ(stretch.polling, 0.5F);
      if (stretch.when.begin >= fine.begin && stretch.when.end < fine.end) {
        ++single;
        EXPECT_EQ(stretch.count, 1u);
        EXPECT_NE(stretch.label, 0u);
      }
    }
    EXPECT_EQ(single, 10u) << "those of the close-up stay single";
    EXPECT_EQ(got, want);
    EXPECT_EQ(events, counted ? list.size() : static_cast<std::size_t>(kEvents));
    EXPECT_LE(list.size(), LaneRow::kMostSingle + 3 * static_cast<std::size_t>(Grains::kEach) + 20)
        << "of each grain, one per state and one that reaches into the next";
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end(),
                               [](const Stretch& a, const Stretch& b) { return a.when.begin < b.when.begin; }));
  }
}

TEST(MostAtOnce, CountsWhatOverlaps) {
  MostAtOnce counted;
  counted.add(0, 10);
  counted.add(5, 5, 100);  // takes no time
  counted.add(5, 20, 3);
  EXPECT_EQ(counted.most(), 4u);
  counted.add(10, 30);
  EXPECT_EQ(counted.most(), 4u) << "the first has ended";
  counted.add(20, 21, 4);
  EXPECT_EQ(counted.most(), 5u);
}

TEST(ReportTimeline, NoTextEndsTheEnclosingScript) {
  TraceModel model = polled_and_parked(20);
  model.sites[0].name = "</script><img src=x onerror=alert(1)>\xff";
  const Analysis analysis = analyze(model);
  const Lanes lanes = gather_lanes(model, analysis, match(model).edges, close_ups(model, analysis));
  const std::string text = timeline_json(model, lanes, close_ups(model, analysis));
  EXPECT_EQ(text.find('<'), std::string::npos);
  const std::string group = Json::parse(text)["lanes"][0]["group"];
  EXPECT_TRUE(group.starts_with("</script><img src=x onerror=alert(1)>")) << group;
}

/// Consecutive iterations of equal length.
AlignedTrace steady(TimeNs begin, TimeNs first, TimeNs length, std::uint32_t count) {
  AlignedTrace trace{{begin, first + count * length + 500}};
  for (std::uint32_t i = 0; i < count; ++i)
    trace.iterations.push_back({0, i + 7, first + i * length, first + (i + 1) * length});
  return trace;
}

TEST(TwoTraces, AreAlignedByIteration) {
  const Alignment alignment(steady(1'000, 2'000, 300, 10), steady(50'000, 50'400, 100, 20));
  EXPECT_EQ(alignment.second_of(2'000), 50'400);
  EXPECT_EQ(alignment.second_of(2'000 + 3 * 300 + 150), 50'400 + 3 * 100 + 50)
      << "the middle of an iteration maps to the middle of its partner";
  EXPECT_EQ(alignment.first_of(50'400 + 3 * 100 + 50), 2'000 + 3 * 300 + 150);
  EXPECT_EQ(alignment.second_of(1'900), 50'300) << "before the first";
  EXPECT_EQ(alignment.second_of(2'000 + 3'000 + 70), 50'400 + 1'000 + 70) << "after the last common iteration";
}

TEST(TwoTraces, HaveWindowsOfEqualLengthThatContainBoth) {
  const AlignedTrace first = steady(1'000, 2'000, 300, 10), second = steady(50'000, 50'400, 100, 20);
  const Alignment alignment(first, second);
  const Interval of_first = alignment.whole_of_first(), of_second = alignment.whole_of_second();
  EXPECT_EQ(of_first.end - of_first.begin, of_second.end - of_second.begin);
  EXPECT_EQ(of_first.begin - 2'000, of_second.begin - 50'400) << "the first iteration at the same place";
  EXPECT_LE(of_first.begin, first.whole.begin);
  EXPECT_GE(of_first.end, first.whole.end);
  EXPECT_LE(of_second.begin, second.whole.begin);
  EXPECT_GE(of_second.end, second.whole.end);
}

TEST(TwoTraces, WithoutIterationsBeginTogether) {
  const Alignment alignment({{1'000, 5'000}}, {{7'000, 9'000}});
  EXPECT_EQ(alignment.second_of(1'500), 7'500);
  EXPECT_EQ(alignment.first_of(6'900), 900);
}

TEST(TwoTraces, PairsAreThinnedOutExceptInCloseUps) {
  const AlignedTrace first = steady(0, 1'000, 300, 50'000), second = steady(0, 400, 100, 50'000);
  const Alignment alignment(first, second);
  const Interval near{400 + 20'003 * 100, 400 + 20'009 * 100};
  const Json json = Json::parse(alignment.json({near}));
  EXPECT_LT(json.size(), 4 * 10'000u);
  std::int64_t sums[4] = {}, met = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    sums[i % 4] += json[i].get<std::int64_t>();
    if (i % 4 != 3) continue;
    EXPECT_EQ(sums[0], sums[2]);
    EXPECT_EQ(alignment.second_of(sums[1]), sums[3]);
    met += sums[3] >= near.begin && sums[3] <= near.end;
  }
  EXPECT_EQ(met, 7) << "every pair of the close-up";
  EXPECT_EQ(sums[3], 400 + 50'000 * 100) << "and the end";
}

TEST(TwoTraces, OverlappingIntervalsAreMerged) {
  const auto list = merged({{50, 60}, {10, 20}, {15, 30}, {90, 120}, {200, 300}}, {0, 100});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(std::pair(list[0].begin, list[0].end), std::pair(TimeNs{10}, TimeNs{30}));
  EXPECT_EQ(std::pair(list[2].begin, list[2].end), std::pair(TimeNs{90}, TimeNs{100}));
}

}  // namespace
}  // namespace wicprof::reports::html
