// What a program gains where host threads sleep in place of polling at sites.
#include "analyzer/path/host_room.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/path/predict.h"
#include "path_rows.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

constexpr TimeNs kFirstTick = 1'000'000'000, kTick = 100'000'000, kTicks = 20;

void add_sample(TraceModel& model, std::uint32_t thread, const char* name, TimeNs begin, TimeNs run_delay) {
  store::ThreadSampleRow row;
  row.thread = thread;
  row.name = name;
  row.begin = begin;
  row.end = begin + kTick;
  row.run_delay = run_delay;
  model.thread_samples.push_back(row);
}

/// A host thread polls for nine tenths of the time, another one works, and lacks a CPU for `lacking` of each tick.
TraceModel polling_host(TimeNs lacking, StrategyId strategy = StrategyId::poll) {
  TraceModel model = empty_program();
  model.sites.clear();
  declare_site(model, 1, "step", WordMemory::pinned_host);
  for (TimeNs tick = 0; tick < kTicks; ++tick) {
    const TimeNs begin = kFirstTick + tick * kTick;
    store::HostWaitRow wait = host_wait_row(1, begin, begin + kTick * 9 / 10, static_cast<std::uint32_t>(tick));
    wait.strategy = strategy;
    wait.cpu = strategy == StrategyId::poll ? wait.end - wait.begin : 1'000;
    model.host_waits.push_back(wait);
    model.signals.push_back(signal_row(1, 0, 0, wait.end - 5'000, static_cast<std::uint32_t>(tick)));
    add_sample(model, 7, "main", begin, 0);
    add_sample(model, 8, "worker", begin, lacking);
    add_sample(model, 9, "wic-drain", begin, kTick);  // the runtime's own
  }
  model.begin = kFirstTick;
  model.end = kFirstTick + kTicks * kTick;
  settle(model);
  return model;
}

std::optional<HostRoom> room_of(const TraceModel& model) { return host_room(model, {{model.begin, model.end}}); }

TEST(HostRoom, NobodyGainsWhereNobodyLacksACpu) {
  const auto room = room_of(polling_host(0));
  ASSERT_TRUE(room);
  EXPECT_EQ(room->lacking, 0);
  EXPECT_EQ(room->gain.value, 1);
  EXPECT_EQ(room->gain.high, 1);
  EXPECT_LT(room->gain.low, 1);
}

TEST(HostRoom, AtMostWhatThreadsLackedIsGained) {
  const auto room = room_of(polling_host(kTick / 2));
  ASSERT_TRUE(room);
  EXPECT_NEAR(room->lacking, 0.5, 1e-9);
  EXPECT_NEAR(room->gain.high, 2, 1e-9);
  EXPECT_NEAR(room->gain.value, 1.5, 1e-9);
  EXPECT_LT(room->gain.low, 1);  // others than the pollers may have taken the CPUs
}

TEST(HostRoom, SleepingThreadsLeaveNothingToGain) {
  EXPECT_FALSE(room_of(polling_host(kTick / 2, StrategyId::leader_bar_sync)));
}

TEST(HostRoom, OnlyTheGivenTimesCount) {
  TraceModel model = polling_host(0);
  for (TimeNs tick = kTicks / 2; tick < kTicks; ++tick)
    add_sample(model, 10, "late", kFirstTick + tick * kTick, kTick / 2);
  const TimeNs half = kFirstTick + kTicks / 2 * kTick;
  EXPECT_NEAR(host_room(model, {{model.begin, half}})->lacking, 0, 1e-9);
  EXPECT_NEAR(host_room(model, {{half, model.end}})->lacking, 0.5, 1e-9);
  EXPECT_FALSE(host_room(model, {}));
}

TEST(HostRoom, WithoutSamplesNothingIsSaid) {
  TraceModel model = polling_host(0);
  model.thread_samples.clear();
  EXPECT_FALSE(room_of(model));
}

TEST(HostRoom, IsThePredictionOfAProgramWhoseHostThreadsWait) {
  const auto predicted = [](const TraceModel& model) {
    return predict(model, critical_path(model, match(model)), Modes(model), site_stats(model));
  };
  const Prediction calm = predicted(polling_host(0)), crowded = predicted(polling_host(kTick / 2));
  ASSERT_TRUE(calm.program) << calm.reason;
  EXPECT_NEAR(calm.program->value, 1, 0.001);
  EXPECT_FALSE(crowded.program);
  ASSERT_TRUE(crowded.bounds) << crowded.reason;
  EXPECT_GE(crowded.bounds->high, 2);
  EXPECT_NE(crowded.reason.find("lacked for up to 50.0 % of the time"), std::string::npos) << crowded.reason;
}

}  // namespace
}  // namespace wicprof::analyzer
