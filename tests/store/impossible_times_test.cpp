// Times that no recording has, and completing a trace that would take too long: neither crashes nor hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "store/format/plausible_times.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

constexpr TimeNs kLast = std::numeric_limits<TimeNs>::max(), kFirst = std::numeric_limits<TimeNs>::min();

WaitEvent wait_at(TimeNs arrived, TimeNs resumed) {
  WaitEvent event = wait_event(1);
  event.arrived_ns = static_cast<std::uint64_t>(arrived);
  event.resumed_ns = static_cast<std::uint64_t>(resumed);
  return event;
}

KernelEvent kernel_at(TimeNs start, TimeNs end) {
  KernelEvent event = make_event<KernelEvent>();
  event.device = 0;
  event.start_ns = start;
  event.end_ns = end;
  return event;
}

NvtxEvent range_at(TimeNs start, TimeNs end) {
  NvtxEvent event = make_event<NvtxEvent>();
  event.kind = NvtxKind::range;
  event.thread = 7;
  event.start_ns = start;
  event.end_ns = end;
  return event;
}

std::uint64_t events_of(const Overview& overview, LaneKind kind) {
  std::uint64_t events = 0;
  for (const Lane& lane : overview.lanes()) events += lane.track.kind == kind ? lane.events : 0;
  return events;
}

class ImpossibleTimes : public testing::Test {
 protected:
  Recorder recorder(TimeNs began) {
    RecorderOptions options = options_for(path_);
    options.began = began;
    Result<Recorder> made = Recorder::create(options);
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  Overview overview() {
    const Result<Reader> reader = Reader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    Result<Overview> overview = reader->overview();
    EXPECT_TRUE(overview) << overview.error().message;
    EXPECT_TRUE(overview->kept());
    return *std::move(overview);
  }
  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
};

TEST_F(ImpossibleTimes, AreLostAndNamedWhenTheyAreRecorded) {
  const TimeNs now = now_ns();
  Recorder to = recorder(now);
  for (int i = 0; i < 100; ++i) {
    to.add(0, wait_at(now + i * 1000, now + i * 1000 + 700).header);
    to.add(0, kernel_at(now + i * 1000, now + i * 1000 + 700).header);
  }
  to.add(0, kernel_at(0, 0).header);  // a time that CUPTI could not take
  for (const TimeNs absurd : {kLast, kFirst, now + 2 * kMaxDistance, now - 2 * kMaxDistance}) {
    to.add(0, wait_at(now, absurd).header);
    to.add(0, wait_at(absurd, now).header);
    to.add(0, kernel_at(now, absurd).header);
    to.add(0, range_at(absurd, absurd).header);
  }
  EXPECT_GE(to.progress().lost, 16u);
  ASSERT_TRUE(to.finish());

  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 100u);
  EXPECT_EQ(reader->rows<KernelTable>()->size(), 101u);
  EXPECT_EQ(stat_value(*reader, "impossible_rows", "wait"), 8);
  EXPECT_EQ(stat_value(*reader, "impossible_rows", "kernel"), 4);
  EXPECT_EQ(stat_value(*reader, "impossible_rows", "nvtx"), 4);
  EXPECT_EQ(events_of(overview(), LaneKind::sm), 100u);
}

TEST_F(ImpossibleTimes, OfAClockReadingDoNotSpoilTheDevicesTimes) {
  const TimeNs now = now_ns();
  Recorder to = recorder(now);
  to.add(0, clock_event(0, 1'000'000, now, 10).header);
  to.add(0, clock_event(0, 2'000'000, kLast - 5, 10).header);
  WaitEvent wait = wait_at(3'000'000, 3'001'000);
  wait.device = 0;
  to.add(0, wait.header);
  ASSERT_TRUE(to.finish());
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_EQ(reader->rows<WaitTable>()->size(), 1u);
  EXPECT_NEAR(static_cast<double>(reader->rows<WaitTable>()->front().arrived - now), 2e6, 1e4);
  EXPECT_EQ(stat_value(*reader, "clock_refused"), 1);
}

// Files from elsewhere may have any times.
TEST_F(ImpossibleTimes, AreOnNoLane) {
  Recorder to = recorder(0);
  for (int i = 0; i < 1000; ++i) to.add(0, wait_at(1'000'000 + i * 1000, 1'000'700 + i * 1000).header);
  for (const TimeNs absurd : {kLast, kFirst, TimeNs{1} << 60, -(TimeNs{1} << 60)}) {
    to.add(0, wait_at(1'000'000, absurd).header);
    to.add(0, kernel_at(absurd, 1'000'000).header);
    to.add(0, range_at(absurd, absurd).header);
    SignalEvent signal = signal_event(1, static_cast<std::uint64_t>(absurd));
    to.add(0, signal.header);
  }
  ASSERT_TRUE(to.finish());
  const Overview made = overview();
  EXPECT_EQ(events_of(made, LaneKind::sm), 1000u);
  EXPECT_EQ(events_of(made, LaneKind::nvtx) + events_of(made, LaneKind::signals), 0u);
  EXPECT_EQ(made.rows(RowKind::wait), 1004u);
  EXPECT_EQ(made.begin(), 1'000'000);
  EXPECT_EQ(made.end(), 1'999'700);
}

// A warp computes between two waits: here, from a time before the trace's first.
TEST_F(ImpossibleTimes, AWaitMayEndBeforeTheTraceBegins) {
  Recorder to = recorder(0);
  to.add(0, wait_at(5'000'000'000, 5).header);
  for (int i = 0; i < 10; ++i) to.add(0, wait_at(5'000'001'000 + i * 1000, 5'000'001'700 + i * 1000).header);
  ASSERT_TRUE(to.finish());
  EXPECT_EQ(events_of(overview(), LaneKind::sm), 11u);
}

TEST_F(ImpossibleTimes, VeryManyRangesAtOnceShareRows) {
  Recorder to = recorder(0);
  constexpr int kRanges = 5000;
  for (int i = 0; i < kRanges; ++i) to.add(0, range_at(1000 + i, 1'000'000 + i).header);
  ASSERT_TRUE(to.finish());
  const Overview made = overview();
  EXPECT_EQ(events_of(made, LaneKind::nvtx), static_cast<std::uint64_t>(kRanges));
  EXPECT_LE(made.lanes().size(), 250u);
}

TEST_F(ImpossibleTimes, VeryManyThreadsTakeLittleMemory) {
  Recorder to = recorder(0);
  for (std::uint32_t i = 0; i < 120'000; ++i) {
    NvtxEvent range = range_at(1000, 1000);
    range.thread = i;
    to.add(0, range.header);
  }
  ASSERT_TRUE(to.finish());
  EXPECT_LE(overview().lanes().size(), 100'000u);
}

class Completing : public ImpossibleTimes {
 protected:
  // Records many waits with their signals; completes the trace as `watch` says.
  void record(const FinishWatch& watch) {
    Recorder to = recorder(0);
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      const WaitEvent wait = wait_event(i);
      to.add(0, signal_event(i, wait.arrived_ns + 100).header);
      to.add(0, wait.header);
    }
    ASSERT_TRUE(to.finish(watch));
  }
};

TEST_F(Completing, ReportsItsSteps) {
  std::set<FinishStep> seen;
  double last = 0;
  record([&](FinishStep step, std::optional<double> part) {
    seen.insert(step);
    last = part.value_or(last);
    return true;
  });
  EXPECT_EQ(seen, (std::set{FinishStep::matching, FinishStep::indexing, FinishStep::summarising}));
  EXPECT_GT(last, 0.9);
  const Result<Reader> reader = Reader::open(path_);
  EXPECT_EQ(stat_value(*reader, "not_summarised"), 0);
}

TEST_F(Completing, MayGiveUpTheSummariesOnly) {
  record([](FinishStep step, std::optional<double>) { return step != FinishStep::summarising; });
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader->meta())["state"], "complete");
  EXPECT_EQ(stat_value(*reader, "not_summarised", "given up: it took too long"), 1);
  const auto waits = *reader->rows<WaitTable>();
  ASSERT_EQ(waits.size(), 30'000u);
  EXPECT_TRUE(std::all_of(waits.begin(), waits.end(), [](const WaitRow& wait) { return wait.ready.has_value(); }));
  // The window makes the missing summaries itself.
  const Result<Overview> made = reader->overview();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->kept());
}

TEST_F(Completing, MayGiveUpEverythingThatIsDerived) {
  record([](FinishStep, std::optional<double>) { return false; });
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader->meta())["state"], "complete");
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 30'000u);
  for (const char* name : {"not_matched", "not_indexed", "not_summarised"})
    EXPECT_EQ(stat_value(*reader, name), 1) << name;
}

}  // namespace
}  // namespace wicprof::store
