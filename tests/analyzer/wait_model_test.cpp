#include "analyzer/waits/wait_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/measure/step_count.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

struct Worked {
  explicit Worked(const TraceModel& model)
      : matching(match(model)), waiters(model), modes(model), waits(model, matching, waiters, modes) {}
  Matching matching;
  Waiters waiters;
  Modes modes;
  WaitModel waits;
};

/// 50 iterations of 1 ms: 8 waiters arrive 0 to 7 ns after the begin, the signal comes after 800 us, and they
/// resume 1.5 us later.
TraceModel worked_handoffs() {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 8, .iterations = 50});
  settle(model);
  return model;
}

TEST(WaitModel, SplitsEveryWait) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 3, .iterations = 1});
  model.waits.edit(2)->resumed += 1'000;                     // notices 1 us after the others
  model.waits.edit(1)->arrived = model.signals[0].at + 500;  // the data was ready
  settle(model);
  const Worked worked(model);
  ASSERT_EQ(worked.matching.edges.size(), 3u);
  for (const WakeEdge& edge : worked.matching.edges) {
    const WaitTimes times = worked.waits.times(edge);
    const store::WaitRow& wait = model.waits[edge.wait];
    EXPECT_EQ(times.t_c, wait.arrived);
    EXPECT_EQ(times.t_p, 1'000'800'000);
    EXPECT_EQ(times.w_p, wait.resumed - wait.arrived);
    EXPECT_EQ(times.w_p, times.producer_late + times.wake);
    EXPECT_EQ(times.wake, times.wake_shared + times.wake_own);
    EXPECT_FALSE(times.w_t);
    if (wait.block == 0) {
      EXPECT_EQ(times.scenario, Scenario::consumer_first);
      EXPECT_EQ(times.producer_late, 800'000);
      EXPECT_EQ(times.wake_shared, 1'500);
      EXPECT_EQ(times.wake_own, 0);
    } else if (wait.block == 1) {
      EXPECT_EQ(times.scenario, Scenario::data_first);
      EXPECT_EQ(times.producer_late, 0);
      EXPECT_EQ(times.wake, 1'000);
    } else {
      EXPECT_EQ(times.wake, 2'500);
      EXPECT_EQ(times.wake_own, 1'000);
    }
  }
}

TEST(WaitModel, TheScenarioIsUndecidedWithinTheClockError) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1});
  model.waits.edit(0)->arrived = model.signals[0].at - 150;  // the clock error may be 200 ns
  settle(model);
  const Worked worked(model);
  EXPECT_EQ(worked.waits.times(worked.matching.edges.at(0)).scenario, Scenario::undecided);
}

TEST(WaitModel, SumsOverASite) {
  const TraceModel model = worked_handoffs();
  const Worked worked(model);
  ASSERT_EQ(worked.waits.sites().size(), 1u);
  const SiteWaits& site = worked.waits.sites()[0];
  EXPECT_EQ(site.mode, Mode::poll);
  EXPECT_EQ(site.waiters, 8u);
  EXPECT_EQ(site.sums.waits, 400u);
  EXPECT_EQ(site.sums.consumer_first, 400u);
  EXPECT_EQ(site.sums.producer_late_ns, 50 * (8 * 800'000 - 28));
  EXPECT_EQ(site.sums.wake_ns, 400 * 1'500);
  EXPECT_EQ(site.sums.wake_shared_ns, 400 * 1'500);
  EXPECT_EQ(site.span_ns, 49'801'500);
  EXPECT_NEAR(site.consumer_share.value_or(0), 320'598'600.0 / (8 * 49'801'500.0), 1e-9);
  EXPECT_FALSE(site.producer_share);
  const auto whole = worked.waits.whole(Mode::poll);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->sums.waiting_ns, site.sums.waiting_ns);
  EXPECT_FALSE(worked.waits.whole(Mode::park));
}

TEST(WaitModel, AGroupWaitsWhileAnyOfItsThreadsDoes) {
  const TraceModel model = worked_handoffs();
  TraceModel each_thread = model;
  for (const store::WaitRow& wait : model.waits) {
    for (int lane = 1; lane < 32; ++lane) each_thread.waits.push_back(wait);
  }
  settle(each_thread);
  const Worked one(model), all(each_thread);
  ASSERT_EQ(all.waits.sites().size(), 1u);
  EXPECT_EQ(all.waits.sites()[0].sums.waits, 32 * one.waits.sites()[0].sums.waits);
  ASSERT_TRUE(all.waits.sites()[0].consumer_share);
  EXPECT_NEAR(*all.waits.sites()[0].consumer_share, *one.waits.sites()[0].consumer_share, 1e-3);
}

TEST(WaitModel, IterationsHaveTheTimesOfTheirWaits) {
  const TraceModel model = worked_handoffs();
  const Worked worked(model);
  ASSERT_EQ(worked.waits.iterations().size(), 50u);
  for (const IterationWaits& iteration : worked.waits.iterations()) {
    const IterationSlot& slot = worked.waiters.slots()[iteration.slot];
    EXPECT_EQ(slot.waits, 8u);
    EXPECT_EQ(iteration.matched, 8u);
    EXPECT_EQ(iteration.last_t_c, slot.last_arrival);
    EXPECT_EQ(iteration.first_t_p, slot.first_arrival + 800'000);
    EXPECT_EQ(iteration.w_p, 8 * 801'500 - 28);
  }
}

TEST(WaitModel, TheCopyBeforeTheSignalIsItsTransfer) {
  TraceModel model = worked_handoffs();
  for (const store::SignalRow& signal : model.signals) {
    store::CopyRow copy{};
    copy.kind = CopyKind::host_to_device;
    copy.start = signal.at - 30'000;
    copy.end = signal.at - 1'000;
    copy.bytes = 4096;
    model.copies.push_back(copy);
  }
  model.signals.edit(7)->bytes = 8192;  // more than the copy transferred
  settle(model);
  const Worked worked(model);
  const SiteWaits& site = worked.waits.sites().at(0);
  EXPECT_EQ(site.sums.transfers, 49u * 8);
  EXPECT_EQ(site.sums.transfer_ns, 49 * 8 * 29'000);
  EXPECT_NEAR(site.producer_share.value_or(0), 49 * 29'000.0 / static_cast<double>(site.span_ns), 1e-9);
}

TEST(WaitModel, CopiesInTheOtherDirectionAreNoTransfers) {
  TraceModel model = worked_handoffs();
  store::CopyRow copy{};
  copy.kind = CopyKind::device_to_host;
  copy.start = model.signals[3].at - 30'000;
  copy.end = model.signals[3].at - 1'000;
  model.copies.push_back(copy);
  settle(model);
  EXPECT_EQ(Worked(model).waits.sites().at(0).sums.transfers, 0u);
}

TEST(WaitModel, ModesAreSeparate) {
  const TraceModel model = phased_program(
      {.period = [](Mode mode, std::size_t) { return mode == Mode::poll ? TimeNs{2'000'000} : TimeNs{1'000'000}; }});
  const Worked worked(model);
  ASSERT_EQ(worked.waits.sites().size(), 2u);
  EXPECT_EQ(worked.waits.sites()[0].mode, Mode::poll);
  EXPECT_EQ(worked.waits.sites()[1].mode, Mode::park);
  const auto waits = worked.waits.sites()[0].sums.waits + worked.waits.sites()[1].sums.waits;
  EXPECT_EQ(waits, model.waits.size());
  EXPECT_TRUE(worked.modes.both());
}

TEST(WaitModel, DoesNotDependOnTheTimeOfRecording) {
  const TraceModel model = worked_handoffs();
  const TraceModel later = shifted(model, 123'456'789);
  const Worked a(model), b(later);
  EXPECT_EQ(a.waits.sites()[0].sums.waiting_ns, b.waits.sites()[0].sums.waiting_ns);
  EXPECT_EQ(a.waits.sites()[0].consumer_share, b.waits.sites()[0].consumer_share);
}

TEST(Waiters, NumbersBlocksThreadsAndIterations) {
  TraceModel model = empty_program();
  declare_site(model, 2, "back", WordMemory::pinned_host);
  for (std::uint32_t i = 0; i < 10; ++i) add_exchange(model, i % 5, 1'000'000 + TimeNs{i} * 100'000, 100'000, 1, 1);
  settle(model);
  const Waiters waiters(model);
  ASSERT_EQ(waiters.list().size(), 2u);
  EXPECT_EQ(waiters.waits_of(0).size(), 10u);
  EXPECT_EQ(waiters.slots().size(), 20u);  // 2 sites, 2 runs, 5 iterations
  EXPECT_EQ(waiters.slots()[waiters.slot_of_wait(7)].run, 1u);
  EXPECT_EQ(waiters.slots()[waiters.slot_of_wait(7)].number, 2u);
  EXPECT_EQ(waiters.find(0, 99, 0), Waiters::kNone);
}

TEST(StepCount, MeansAndCoverage) {
  const StepCount count({{10, 20}, {15, 30}, {40, 50}, {45, 45}});
  EXPECT_EQ(count.max(), 2u);
  EXPECT_EQ(count.at(17), 2);
  EXPECT_EQ(count.at(35), 0);
  EXPECT_DOUBLE_EQ(count.mean(10, 30), 25.0 / 20);
  EXPECT_DOUBLE_EQ(count.mean(0, 60), 35.0 / 60);
  EXPECT_DOUBLE_EQ(count.covered(0, 60), 30.0 / 60);
  EXPECT_DOUBLE_EQ(count.covered(30, 40), 0);
  const StepCount::CoveredCount alone = count.count_ns_while(StepCount({{12, 16}, {44, 60}}), {});
  EXPECT_DOUBLE_EQ(alone.first, 4 + 1 + 6);
  EXPECT_DOUBLE_EQ(alone.either, 4 + 1 + 6);
  const StepCount::CoveredCount both = count.count_ns_while(StepCount({{12, 16}}), StepCount({{44, 60}}));
  EXPECT_DOUBLE_EQ(both.first, 4 + 1);
  EXPECT_DOUBLE_EQ(both.either, 4 + 1 + 6);
}

TEST(StepCount, ACursorAgreesWithDirectQueries) {
  std::vector<Interval> intervals;
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<TimeNs>((state >> 33) % limit);
  };
  for (int i = 0; i < 500; ++i) {
    const TimeNs begin = below(10'000);
    intervals.push_back({begin, begin + below(30)});
  }
  const StepCount count(intervals);
  StepCount::Cursor cursor(count);
  for (TimeNs begin = -100; begin < 10'200; begin += 1 + below(40)) {
    const TimeNs end = begin + below(100);
    ASSERT_EQ(cursor.covered(begin, end), count.covered(begin, end)) << begin << " to " << end;
  }
  EXPECT_EQ(cursor.covered(3, 500), count.covered(3, 500));  // back to an earlier time
}

TEST(StepCount, RoundingKeepsMillionsOfIntervals) {
  std::vector<Interval> intervals;
  constexpr TimeNs kCount = (1 << 20) + 1000;
  for (TimeNs i = 0; i < kCount; ++i) intervals.push_back({i * 100, i * 100 + 250});
  const StepCount count(intervals);
  EXPECT_NEAR(count.mean(1'000, 100'000'000), 2.5, 0.001);
  EXPECT_NEAR(count.covered(1'000, 100'000'000), 1, 1e-9);
  EXPECT_EQ(count.at(kCount * 100 + 10'000), 0);
}

TEST(StepCount, SortsNearlySortedTimes) {
  std::vector<TimeNs> times;
  for (TimeNs i = 0; i < 50'000; ++i) times.push_back(i * 10 + (i % 7) * 11);
  times.push_back(-5);  // must move to the front
  std::vector<TimeNs> expected = times;
  std::sort(expected.begin(), expected.end());
  sort_times(times);
  EXPECT_EQ(times, expected);
}

TEST(StepCount, SortsLikeTheStandardLibrary) {
  std::vector<TimeNs> times;
  std::uint64_t state = 1;
  for (int i = 0; i < 50'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    times.push_back(static_cast<TimeNs>(state >> 20) - (TimeNs{1} << 42));
  }
  std::vector<TimeNs> expected = times;
  std::sort(expected.begin(), expected.end());
  sort_times(times);
  EXPECT_EQ(times, expected);
}

}  // namespace
}  // namespace wicprof::analyzer
