#include "analyzer/trace/clock_bounds.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "program.h"

namespace wicprof::analyzer {
namespace {

using namespace test_program;

constexpr TimeNs kUs = 1'000, kMs = 1'000'000, kSecond = 1'000'000'000;

// Kernels that start `start_after` their calls begin, with waits that return `end_before` after the kernels end, on a
// GPU clock with the error error(true time).
Program program_with(TimeNs length, const std::function<TimeNs(TimeNs)>& error, TimeNs start_after = 6 * kUs,
                     TimeNs end_before = 4 * kUs) {
  Program program;
  for (TimeNs at = kSecond; at < kSecond + length; at += 10 * kMs) {
    const TimeNs start = at + start_after, end = start + 5 * kMs;
    program.launch("k", 1, {start + error(start), end + error(end)}, at);
    program.sync(SyncKind::stream, 1, {at + 10 * kUs, end + end_before});
  }
  program.settled();
  return program;
}

TEST(ClockBounds, ACorrectClockIsBoundedFromBothSides) {
  const auto bounds = clock_bounds(program_with(3 * kSecond, [](TimeNs) { return 0; }).model);
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].device, 0);
  EXPECT_EQ(bounds[0].low, -4 * kUs);
  EXPECT_EQ(bounds[0].high, 6 * kUs);
  EXPECT_EQ(bounds[0].proven_error, 0);
  EXPECT_EQ(bounds[0].proven_drift, 0);
  EXPECT_EQ(bounds[0].windows.size(), 3u);
  EXPECT_EQ(bounds[0].windows[1].highs, 100u);
}

TEST(ClockBounds, HoldForEveryError) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const TimeNs error = static_cast<TimeNs>(random() % 100'000) - 50'000;
    const TimeNs start_after = random() % 20'000, end_before = random() % 20'000;
    const auto bounds = clock_bounds(program_with(
                                         kSecond, [&](TimeNs) { return error; }, start_after, end_before)
                                         .model);
    ASSERT_EQ(bounds.size(), 1u);
    EXPECT_LE(*bounds[0].low, error);
    EXPECT_GE(*bounds[0].high, error);
    EXPECT_LE(*bounds[0].high - *bounds[0].low, start_after + end_before);
    // An error is proven only if it exceeds the slack of launches and waits, and never by more than its size.
    EXPECT_LE(bounds[0].proven_error, std::abs(error));
    const bool shows = error > end_before || -error > start_after;
    EXPECT_EQ(bounds[0].proven_error > 0, shows);
  }
}

TEST(ClockBounds, AWaitWhoseCallIsMissingProvesNothing) {
  Program program = program_with(kSecond, [](TimeNs) { return 0; });
  program.model.calls.erase_if([](const auto& call) { return call.name == "cudaSynchronize"; });
  const auto bounds = clock_bounds(program.settled());
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_FALSE(bounds[0].low);
  EXPECT_EQ(bounds[0].windows[0].lows, 0u);
}

TEST(ClockBounds, DriftShowsBetweenWindows) {
  // 50 us per second: 20 windows, each with bounds as wide as the drift within it.
  const auto bounds = clock_bounds(program_with(20 * kSecond, [](TimeNs at) { return (at - kSecond) / 20'000; }).model);
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_GT(bounds[0].proven_error, 900 * kUs);
  EXPECT_LE(bounds[0].proven_error, 1'000 * kUs);
  EXPECT_GT(bounds[0].proven_drift, 900 * kUs);
  EXPECT_LE(bounds[0].proven_drift, 1'000 * kUs);
  EXPECT_LT(*bounds[0].windows.front().low, *bounds[0].windows.back().low);
}

TEST(ClockBounds, AJumpWithinAWindowIsAContradiction) {
  const auto bounds = clock_bounds(
      program_with(kSecond, [](TimeNs at) { return at < kSecond + kSecond / 2 ? -100 * kUs : 100 * kUs; }).model);
  ASSERT_EQ(bounds.size(), 1u);
  ASSERT_EQ(bounds[0].windows.size(), 1u);
  EXPECT_TRUE(bounds[0].windows[0].contradictory());
  EXPECT_EQ(bounds[0].proven_drift, 96 * kUs - -94 * kUs);
  EXPECT_GE(bounds[0].proven_error, 96 * kUs);
  EXPECT_LE(*bounds[0].low, -94 * kUs);
  EXPECT_GE(*bounds[0].high, 96 * kUs);
}

TEST(ClockBounds, AWaitBoundsOnlyWorkRequestedBefore) {
  Program program;
  program.launch("first", 1, {1 * kMs, 2 * kMs}, 900 * kUs);
  program.sync(SyncKind::stream, 1, {950 * kUs, 2 * kMs + 3 * kUs});
  program.launch("launched by another thread while the first one waited", 1, {2 * kMs, 50 * kMs}, 1500 * kUs);
  program.launch("on another stream", 2, {1 * kMs, 60 * kMs}, 800 * kUs);
  const auto bounds = clock_bounds(program.settled());
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].low, -3 * kUs);
  // A wait for the whole context bounds the other stream too.
  program.sync(SyncKind::context, 0, {51 * kMs, 60 * kMs + 1 * kUs});
  EXPECT_EQ(clock_bounds(program.settled())[0].low, -1 * kUs);
}

TEST(ClockBounds, AWaitForAnEventBoundsWorkBeforeItsRecording) {
  Program program;
  program.launch("before", 1, {1 * kMs, 2 * kMs}, 900 * kUs);
  program.event(9, 1, 950 * kUs, 2 * kMs);
  program.launch("after", 1, {2 * kMs, 50 * kMs}, 960 * kUs);
  store::SyncRow& sync = program.sync(SyncKind::event, 0, {970 * kUs, 2 * kMs + 5 * kUs});
  sync.event_sync = 9;
  EXPECT_EQ(clock_bounds(program.settled()).at(0).low, -5 * kUs);
  program.model.cuda_events[0].process = 99;  // its recording is no longer found
  EXPECT_FALSE(clock_bounds(program.settled()).at(0).low);
}

TEST(ClockBounds, AFailedOrLateReturningCallProvesNothingWrong) {
  Program program;
  program.launch("k", 1, {1 * kMs, 20 * kMs}, 900 * kUs);
  program.sync(SyncKind::stream, 1, {950 * kUs, 2 * kMs}).result = 999;
  EXPECT_FALSE(clock_bounds(program.settled()).at(0).low);
  store::SyncRow& early = program.sync(SyncKind::stream, 1, {950 * kUs, 20 * kMs + 7 * kUs});
  early.end = 3 * kMs;  // CUPTI's record ends before the call
  EXPECT_EQ(clock_bounds(program.settled()).at(0).low, -7 * kUs);
}

TEST(ClockBounds, ASynchronousCopyToTheHostIsABound) {
  Program program;
  program.call("cudaMemcpy", 7, {1 * kMs, 2 * kMs}, 0, 40);
  store::CopyRow copy{};
  copy.kind = CopyKind::device_to_host;
  copy.start = 1 * kMs + 30 * kUs;
  copy.end = 2 * kMs - 20 * kUs;
  copy.correlation = 40;
  copy.process = Program::kProcess;
  program.model.copies = {copy};
  EXPECT_EQ(clock_bounds(program.settled()).at(0).low, -20 * kUs);
  EXPECT_EQ(clock_bounds(program.model).at(0).high, 30 * kUs);
  program.model.copies.edit(0)->asynchronous = true;
  EXPECT_FALSE(clock_bounds(program.settled()).at(0).low);
}

TEST(ClockBounds, AreSeparatePerDeviceAndProcess) {
  Program program;
  program.launch("k", 1, {1 * kMs, 2 * kMs}, 1 * kMs - 5 * kUs)->device = 1;
  program.launch("k", 1, {1 * kMs, 2 * kMs}, 1 * kMs - 9 * kUs);
  // The same correlation in another process belongs to another, much later call.
  store::CallRow other = program.model.calls[1];
  other.process = 77;
  other.start = 90 * kMs;
  other.end = 91 * kMs;
  program.model.calls.push_back(other);
  const auto bounds = clock_bounds(program.settled());
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].device, 0);
  EXPECT_EQ(bounds[0].windows.at(0).high, 9 * kUs);
  EXPECT_EQ(bounds[1].device, 1);
  EXPECT_EQ(bounds[1].windows.at(0).high, 5 * kUs);
}

TEST(ClockBounds, AreEmptyWithoutCalls) {
  EXPECT_TRUE(clock_bounds(TraceModel{}).empty());
  Program program;
  program.kernel("k", 1, {1 * kMs, 2 * kMs}, 5);
  program.kernel("never timed", 1, {0, 0}, 6);
  EXPECT_TRUE(clock_bounds(program.settled()).empty());
}

}  // namespace
}  // namespace wicprof::analyzer
