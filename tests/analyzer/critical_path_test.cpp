// The critical path.
#include "analyzer/path/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "path_rows.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

void expect_whole(const CriticalPath& path) {
  TimeNs sum = 0;
  for (std::size_t i = 0; i < path.segments.size(); ++i) {
    sum += path.segments[i].length();
    if (i > 0) {
      EXPECT_LE(path.segments[i - 1].end, path.segments[i].begin);
    }
  }
  EXPECT_LE(path.length_ns, sum) << "the part within the window of the iterations";
  EXPECT_GT(path.length_ns, 0);
  double shares = 0;
  for (const PathShare& share : path.shares) shares += share.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(CriticalPath, LeadsFromTheHostsWaitThroughTheBlockToTheHostsSignal) {
  TraceModel model = empty_program();
  declare_site(model, 2, "back", WordMemory::pinned_host);
  model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
  model.waits.push_back(wait_row(1, 1, 1'000'000, 1'052'000));  // the path does not need this one
  model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
  model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
  model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
  settle(model);
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_TRUE(path.missing.empty()) << path.missing;
  ASSERT_EQ(path.segments.size(), 4u);
  const PathKind kinds[] = {PathKind::host_work, PathKind::wake, PathKind::device_work, PathKind::wake};
  const TimeNs lengths[] = {40'000, 10'000, 50'000, 10'000};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(path.segments[i].kind, kinds[i]) << i;
    EXPECT_EQ(path.segments[i].length(), lengths[i]) << i;
  }
  EXPECT_EQ(path.length_ns, model.span());
  expect_whole(path);
}

// A thread of the backend copies something just before the program's thread signals.
TEST(CriticalPath, LeadsToTheSignallingThreadNotTheLastActiveOne) {
  for (const bool known : {true, false}) {
    TraceModel model = empty_program();
    declare_site(model, 2, "back", WordMemory::pinned_host);
    model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
    model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
    model.signals.edit_back()->thread = known ? 7 : 0;
    model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
    model.host_waits.push_back(host_wait_row(2, 1'005'000, 1'010'000, 100));  // the program's thread
    model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
    model.host_waits.push_back(host_wait_row(0, 1'030'000, 1'039'000));
    model.host_waits.edit_back()->thread = 8;
    model.host_waits.edit_back()->call = "cudaMemcpy";
    settle(model);
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::host_work) {
        EXPECT_EQ(segment.place, 7u) << (known ? "said by the signal" : "guessed");
      }
    }
    expect_whole(path);
  }
}

// The last thing in a recording of `run --ab` is the word with which the backend switches the mode. Its thread waits
// for nobody, so a path from there would say that the program only ran on that thread.
TEST(CriticalPath, DoesNotBeginAtACopyOfTheBackend) {
  for (const bool of_program : {false, true}) {
    TraceModel model = empty_program();
    declare_site(model, 2, "back", WordMemory::pinned_host);
    model.waits.push_back(wait_row(1, 0, 1'000'000, 1'050'000));
    model.signals.push_back(signal_row(1, kHostDevice, 0, 1'040'000));
    model.signals.push_back(signal_row(2, 0, 0, 1'100'000));
    model.host_waits.push_back(host_wait_row(2, 1'045'000, 1'110'000));
    store::CallRow call{};
    call.thread = of_program ? 7 : 9;
    call.correlation = 5;
    call.start = 1'112'000;
    call.end = 1'113'000;
    model.calls.push_back(call);
    store::CopyRow copy{};
    copy.correlation = 5;
    copy.start = 1'114'000;
    copy.end = 1'115'000;
    copy.bytes = 4;
    model.copies.push_back(copy);
    settle(model);
    const CriticalPath path = critical_path(model, match(model));
    TimeNs on_device = 0;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::device_work) on_device += segment.length();
    }
    EXPECT_EQ(on_device, 50'000) << of_program;
    EXPECT_EQ(path.segments.back().kind, of_program ? PathKind::copy : PathKind::wake);
  }
}

TEST(CriticalPath, LeadsThroughLaunchesAndTheHostsSynchronization) {
  test_program::Program program;
  program.launch("first", 1, {100'000, 200'000}, 90'000);
  program.host_wait("cudaStreamSynchronize", {110'000, 205'000}, std::nullopt);
  program.launch("second", 1, {220'000, 300'000}, 210'000);
  const TraceModel& model = program.settled();
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_TRUE(path.missing.empty()) << path.missing;
  std::map<PathKind, TimeNs> totals;
  for (const PathSegment& segment : path.segments) totals[segment.kind] += segment.length();
  EXPECT_EQ(totals[PathKind::device_work], 180'000);
  EXPECT_EQ(totals[PathKind::launch], 20'000);
  EXPECT_EQ(totals[PathKind::host_return], 5'000);
  EXPECT_EQ(totals[PathKind::host_work], 5'000);
  expect_whole(path);
}

// Errors of the clocks put the last signal of a kernel behind the kernel's end. A thread of the backend waits
// meanwhile.
TEST(CriticalPath, ASignalBehindItsKernelsEndLeadsIntoTheKernel) {
  for (const TimeNs late : {0, 12'000}) {
    test_program::Program program;
    program.model.devices.back().clock_error_ns = 30'000;
    program.launch("streams", 1, {100'000, 900'000}, 90'000)->grid[0] = 8;
    program.model.sites.push_back({1, "streamed", WordMemory::pinned_host, Pollers::leader, 1});
    program.model.signals.push_back(signal_row(1, 0, 6, 899'000 + late));
    program.model.host_waits.push_back(host_wait_row(1, 110'000, 930'000));
    program.host_wait("cuEventSynchronize", {700'000, 899'500}, std::nullopt);
    program.model.host_waits.edit_back()->thread = 9;
    const TraceModel& model = program.settled();
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    TimeNs on_device = 0;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind == PathKind::device_work) on_device += segment.length();
      if (segment.kind == PathKind::host_work) {
        EXPECT_EQ(segment.place, 7u) << late;
      }
    }
    EXPECT_EQ(on_device, 799'000 + late);
    EXPECT_TRUE(path.notes.empty()) << path.notes.front();
    expect_whole(path);
  }
}

// The backend compares clocks with a kernel of one block that never waits, launched by the backend's thread.
TEST(CriticalPath, LeadsToTheKernelOfTheBlockNotToTheBackends) {
  for (const char* other : {"wic::cuda::answer_pings", "small"}) {
    test_program::Program program;
    program.kernel("waiting", 1, {100'000, 900'000})->grid[0] = 8;
    program.kernel(other, 2, {300'000, 950'000})->grid[0] = 1;
    program.model.sites.push_back({1, "flag", WordMemory::pinned_host, Pollers::leader, 1});
    program.model.waits.push_back(wait_row(1, 5, 200'000, 600'000));
    program.model.signals.push_back(signal_row(1, kHostDevice, 0, 590'000));
    program.model.signals.edit_back()->thread = 7;
    program.model.waits.push_back(wait_row(1, 5, 700'000, 960'000));  // the last thing that happens
    program.model.signals.push_back(signal_row(1, 0, 6, 955'000));
    const TraceModel& model = program.settled();
    const CriticalPath path = critical_path(model, match(model));
    ASSERT_TRUE(path.missing.empty()) << path.missing;
    for (const PathSegment& segment : path.segments) {
      if (segment.kind != PathKind::device_work) continue;
      EXPECT_NE(segment.begin, 300'000) << other << ": the other kernel's begin";
    }
    expect_whole(path);
  }
}

TEST(CriticalPath, AKernelWaitsForThePreviousOneInItsStream) {
  test_program::Program program;
  program.launch("first", 1, {100'000, 200'000}, 80'000);
  program.launch("second", 1, {203'000, 300'000}, 90'000);
  const TraceModel& model = program.settled();
  const CriticalPath path = critical_path(model, match(model));
  ASSERT_GE(path.segments.size(), 3u);
  const PathSegment& gap = path.segments[path.segments.size() - 2];
  EXPECT_EQ(gap.kind, PathKind::launch);
  EXPECT_EQ(gap.length(), 3'000);
  expect_whole(path);
}

TEST(CriticalPath, IsMissingWithoutEdgesAndCalls) {
  TraceModel model = empty_program();
  add_handoff(model, {.iterations = 5});
  model.signals.clear();
  settle(model);
  EXPECT_FALSE(critical_path(model, match(model)).missing.empty());
  EXPECT_FALSE(critical_path(TraceModel{}, Matching{}).missing.empty());
}

TEST(CriticalPath, CircularSignalsEndTheWalk) {
  TraceModel model = empty_program();
  // Two blocks that appear to release each other at the same time.
  model.waits.push_back(wait_row(1, 0, 1'000, 2'000));
  model.waits.push_back(wait_row(2, 1, 1'000, 2'000));
  model.signals.push_back(signal_row(1, 0, 1, 2'000));
  model.signals.push_back(signal_row(2, 0, 0, 2'000));
  settle(model);
  EXPECT_LE(critical_path(model, match(model)).length_ns, model.span());
}

}  // namespace
}  // namespace wicprof::analyzer
