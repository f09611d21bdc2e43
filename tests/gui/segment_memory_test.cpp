// Before and after in a growing trace whose old rows are dropped.
#include "gui/source/segment_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/compare/compare.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::gui {
namespace {

using analyzer::TraceModel;
namespace synthetic = analyzer::synthetic;

constexpr TimeNs kPolled = 1'000'000, kParked = 250'000;

/// Iterations take 1 ms polled and 0.25 ms parked.
TraceModel program(std::size_t phases, std::size_t iterations) {
  synthetic::Phases options;
  options.phases = phases;
  options.iterations = iterations;
  options.period = [](Mode mode, std::size_t) { return mode == Mode::poll ? kPolled : kParked; };
  return synthetic::phased_program(options);
}

/// The rows known at `now` after waits that ended before `from` are dropped.
TraceModel part_of(const TraceModel& whole, TimeNs from, TimeNs now) {
  TraceModel part = whole;
  part.waits.erase_if([&](const auto& row) { return row.resumed <= from || row.resumed > now; });
  part.signals.erase_if([&](const auto& row) { return row.at <= from || row.at > now; });
  const auto outside = [&](const auto& row) { return row.end <= from || row.end > now; };
  part.host_waits.erase_if(outside);
  part.kernels.erase_if(outside);
  std::erase_if(part.nvtx, outside);
  std::erase_if(part.interventions, [&](const auto& row) { return row.effective > now; });
  analyzer::settle(part);
  return part;
}

struct Answer {
  analyzer::Comparison comparison;
  BeforeAfter values;
};

/// Observes the last `reach` of the program every `pace`; returns the answer of the last observation.
Answer answer_of(const TraceModel& whole, TimeNs reach, TimeNs pace, SegmentMemory& memory) {
  Answer answer;
  for (TimeNs now = whole.begin + pace; now < whole.end + pace; now += pace) {
    const TimeNs from = now - reach > whole.begin ? now - reach : 0;
    const TraceModel part = part_of(whole, from, now);
    memory.observe(part, from);
    answer.comparison = analyzer::compare(part);
    answer.values = before_after(part, answer.comparison, from);
    if (from > 0) memory.complete(answer.comparison, answer.values);
  }
  return answer;
}

TEST(SegmentMemory, HasAllObservedIterations) {
  const TraceModel whole = program(2, 400);
  SegmentMemory memory;
  const Answer answer = answer_of(whole, 20 * kMillisecond, 7 * kMillisecond, memory);
  const BeforeAfter all = before_after(whole, analyzer::compare(whole));
  const BeforeAfter& values = answer.values;
  ASSERT_TRUE(values.before && values.after && values.speedup);
  EXPECT_EQ(values.before->mode, Mode::poll);
  EXPECT_EQ(values.before->begin, all.before->begin);
  EXPECT_EQ(values.before->end, all.before->end);
  EXPECT_EQ(values.before->iterations, all.before->iterations);
  EXPECT_EQ(values.before->iteration_p50, all.before->iteration_p50);
  EXPECT_NEAR(values.before->wait_share, all.before->wait_share, 0.05);
  EXPECT_EQ(values.before->polls_per_wait, all.before->polls_per_wait);
  EXPECT_EQ(values.after->iterations, all.after->iterations);
  EXPECT_EQ(values.after->iteration_p50, all.after->iteration_p50);
  EXPECT_EQ(values.verdict, all.verdict);
  EXPECT_NEAR(values.speedup->value, 4, 0.01);
  EXPECT_EQ(values.measured_at, analyzer::compare(whole).measured_at);
}

TEST(SegmentMemory, IsNotMisledByUnobservedRows) {
  const TraceModel whole = program(3, 400);
  SegmentMemory memory;
  // Two thirds of all rows are added and dropped between two observations.
  const Answer answer = answer_of(whole, 10 * kMillisecond, 30 * kMillisecond, memory);
  ASSERT_EQ(answer.values.segments.size(), 3u);
  for (const SegmentLine& line : answer.values.segments) {
    EXPECT_EQ(line.iteration_p50, line.mode == Mode::poll ? kPolled : kParked);
    EXPECT_GT(line.iterations, 50u);
    EXPECT_LT(line.iterations, 200u);
    EXPECT_NEAR(line.wait_share, 0.8, 0.1);
  }
  for (const analyzer::Segment& segment : answer.comparison.segments) {
    for (const analyzer::Iteration& iteration : segment.iterations) {
      EXPECT_EQ(iteration.duration(), segment.mode == Mode::poll ? kPolled : kParked);
    }
  }
}

TEST(SegmentMemory, ASegmentThatEndedBeforeTheLastObservationIsKept) {
  const TraceModel whole = program(2, 100);
  const TimeNs change = whole.interventions.front().effective;
  SegmentMemory memory;
  memory.observe(part_of(whole, change - 20 * kMillisecond, change + kMillisecond), change - 20 * kMillisecond);
  const TimeNs from = change + 10 * kMillisecond;
  const TraceModel last = part_of(whole, from, whole.end);
  memory.observe(last, from);
  analyzer::Comparison comparison = analyzer::compare(last);
  BeforeAfter values = before_after(last, comparison, from);
  EXPECT_FALSE(values.speedup) << "the rows alone are not enough";
  memory.complete(comparison, values);
  ASSERT_TRUE(values.speedup);
  EXPECT_NEAR(values.speedup->value, 4, 0.01);
  EXPECT_LE(values.before->iterations, 20u);
}

TEST(SegmentMemory, TheVerdictOverManyPhasesOutlivesTheirRows) {
  const TraceModel whole = program(8, 60);
  SegmentMemory memory;
  const Answer answer = answer_of(whole, 20 * kMillisecond, 7 * kMillisecond, memory);
  const BeforeAfter all = before_after(whole, analyzer::compare(whole));
  ASSERT_TRUE(all.speedup && answer.values.speedup && answer.values.before);
  EXPECT_EQ(answer.values.before->phases, all.before->phases);
  EXPECT_EQ(answer.values.after->phases, all.after->phases);
  EXPECT_NEAR(answer.values.speedup->value, all.speedup->value, 0.01);
  EXPECT_LT(answer.values.speedup->high / answer.values.speedup->low, 1.5) << "one pair alone leaves a factor of 8";
}

TEST(SegmentMemory, IsBounded) {
  const TraceModel whole = program(1, 30'000);
  SegmentMemory memory;
  for (TimeNs from = whole.begin; from < whole.end; from += kSecond)
    memory.observe(part_of(whole, from, from + 2 * kSecond), from);
  analyzer::Comparison comparison = analyzer::compare(whole);
  std::vector<std::string> notes;
  comparison.segments = analyzer::find_segments(whole, notes);
  BeforeAfter values = before_after(whole, comparison);
  memory.complete(comparison, values);
  ASSERT_EQ(values.segments.size(), 1u);
  EXPECT_GT(values.segments[0].iterations, 29'000u);
  EXPECT_LT(comparison.segments[0].iterations.size(), 5'000u);
  const auto& kept = comparison.segments[0].iterations;
  EXPECT_LT(kept.front().begin, whole.begin + kSecond);
  EXPECT_GT(kept.back().end, whole.end - kSecond);
}

TEST(SegmentMemory, MeasuresWhereBothSegmentsHaveIterations) {
  // Site 1 stops at the change; site 2, with fewer iterations, continues.
  TraceModel whole = program(2, 100);
  synthetic::declare_site(whole, 2, "other", WordMemory::pinned_host);
  const TimeNs change = whole.interventions.front().effective;
  whole.waits.erase_if([&](const auto& row) { return row.arrived > change; });
  synthetic::Handoff other;
  other.site = 2;
  other.start = whole.begin;
  other.iterations = 90;
  other.period = [](std::size_t) { return 2 * kPolled; };
  synthetic::add_handoff(whole, other);
  analyzer::settle(whole);
  SegmentMemory memory;
  const Answer answer = answer_of(whole, 20 * kMillisecond, 10 * kMillisecond, memory);
  EXPECT_NE(answer.values.measured_at.find("other"), std::string::npos) << answer.values.measured_at;
  ASSERT_TRUE(answer.values.speedup);
  EXPECT_NEAR(answer.values.speedup->value, 1, 0.01);
}

TEST(SegmentMemory, RemembersWhatAComparisonTimes) {
  TraceModel ranges =
      synthetic::program_without_sites(600, [](std::uint32_t step) { return step < 300 ? kPolled : kParked; });
  TraceModel numbered = ranges;
  for (std::size_t i = 0; i < numbered.nvtx.size(); ++i) numbered.nvtx[i].name = "step " + std::to_string(i);
  TraceModel launches = ranges;
  launches.nvtx.clear();
  TraceModel calls = launches;
  calls.kernels.clear();
  for (TraceModel* program : {&ranges, &numbered, &launches, &calls}) {  // from the best clock to the worst
    analyzer::settle(*program);
    const analyzer::Comparison whole = analyzer::compare(*program);
    ASSERT_TRUE(whole.speedup) << whole.reason;
    SegmentMemory memory;
    const Answer answer = answer_of(*program, 40 * kMillisecond, 9 * kMillisecond, memory);
    EXPECT_EQ(answer.comparison.measured_at, whole.measured_at);
    EXPECT_EQ(answer.comparison.timed, whole.timed);
    ASSERT_TRUE(answer.values.speedup && answer.values.before && answer.values.after) << whole.measured_at;
    EXPECT_NEAR(answer.values.speedup->value, 4, 0.01) << whole.measured_at;
    EXPECT_NEAR(static_cast<double>(answer.values.before->iterations), static_cast<double>(whole.before.iterations), 3);
    EXPECT_NEAR(static_cast<double>(answer.values.after->iterations), static_cast<double>(whole.after.iterations), 3);
    // As if no row had been dropped in between: iterations follow each other.
    EXPECT_FALSE(answer.comparison.per_time) << answer.comparison.reason;
  }
}

}  // namespace
}  // namespace wicprof::gui
