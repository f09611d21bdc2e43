// shared_watch under every schedule of small programs (watch_scenarios.h), with at most the preemptions in each test's
// name, one look of a thread after each look with news, and sequentially consistent memory.
#include <gtest/gtest.h>

#include <iostream>

#include "watch_scenarios.h"

namespace wic {
namespace {

using scenarios::Scenario;

class SharedWatchExhaustively : public testing::TestWithParam<Scenario> {};

TEST_P(SharedWatchExhaustively, HoldsUnderEverySchedule) {
  scenarios::World world;
  simt::Bounds bounds;
  bounds.preemptions = GetParam().preemptions;
  const simt::Explored explored =
      simt::explore(bounds, [&](simt::ExploredRun& run) { return play(GetParam(), world, run); });
  EXPECT_EQ(explored.failure, "");
  EXPECT_TRUE(explored.complete);
  std::cout << explored.schedules << " schedules, " << explored.states << " states, " << explored.turns << " turns, "
            << explored.shared_words << " shared words\n";
}

std::string bounded_name(const testing::TestParamInfo<Scenario>& scenario) {
  return std::string(scenario.param.name) + "_" + std::to_string(scenario.param.preemptions) + "_preemptions";
}
INSTANTIATE_TEST_SUITE_P(Bounded, SharedWatchExhaustively, testing::ValuesIn(scenarios::all_scenarios()), bounded_name);

// The explorer itself.
struct Memory {
  std::uint32_t value = 0;
  std::uint32_t first = 0, second = 0;
};

struct CountsWithoutAtomics {
  Memory* memory;
  void operator()(const Thread& thread) const { thread.store(&memory->value, thread.load(&memory->value) + 1); }
};

TEST(Explore, FindsALostUpdateWithOnePreemptionAndNoneWithout) {
  Memory memory;
  const auto count_to_two = [&](simt::ExploredRun& run) -> std::string {
    memory = {};
    run.launch({2, 1}, kernel_ref(CountsWithoutAtomics{&memory}));
    if (const auto ended = run.run(); !ended) return ended.error().message;
    return memory.value == 2 ? "" : "lost";
  };
  simt::Bounds bounds;
  bounds.preemptions = 0;
  const simt::Explored without = simt::explore(bounds, count_to_two);
  EXPECT_EQ(without.failure, "");
  EXPECT_TRUE(without.complete);
  bounds.preemptions = 1;
  EXPECT_EQ(simt::explore(bounds, count_to_two).failure, "lost");
}

// Dekker: both read 0 only with delayed stores, which this memory does not have. All other results must occur.
struct StoresAndLooks {
  Memory* memory;
  std::uint32_t* seen;
  void operator()(const Thread& thread) const {
    std::uint32_t* const mine = thread.block() == 0 ? &memory->first : &memory->second;
    std::uint32_t* const others = thread.block() == 0 ? &memory->second : &memory->first;
    thread.store(mine, 1);
    seen[thread.block()] = thread.load(others);
  }
};

TEST(Explore, ReachesEveryResult) {
  Memory memory;
  std::uint32_t seen[2];
  std::array<std::uint32_t, 4> results{};
  simt::Bounds bounds;
  bounds.preemptions = 1;
  const simt::Explored explored = simt::explore(bounds, [&](simt::ExploredRun& run) -> std::string {
    memory = {};
    run.launch({2, 1}, kernel_ref(StoresAndLooks{&memory, seen}));
    if (const auto ended = run.run(); !ended) return ended.error().message;
    ++results[seen[0] * 2 + seen[1]];
    return {};
  });
  EXPECT_TRUE(explored.complete);
  EXPECT_EQ(results[0], 0u);
  for (std::size_t i = 1; i < results.size(); ++i) EXPECT_GT(results[i], 0u) << i;
}

struct SleepsUntilSet {
  Memory* memory;
  void operator()(const Thread& thread) const {
    while (thread.load(&memory->value) == 0) thread.sleep_ns(100);
  }
};

TEST(Explore, ReportsAHang) {
  Memory memory;
  const simt::Explored explored = simt::explore({}, [&](simt::ExploredRun& run) -> std::string {
    memory = {};
    run.launch({2, 1}, kernel_ref(SleepsUntilSet{&memory}));
    const auto ended = run.run();
    return ended ? "" : ended.error().message;
  });
  EXPECT_EQ(explored.failure.substr(0, 4), "hang") << explored.failure;
}

struct SpinsUntilSet {
  Memory* memory;
  void operator()(const Thread& thread) const {
    while (thread.load(&memory->value) == 0) {
    }
  }
};

TEST(Explore, RefusesALoopWithoutASleep) {
  Memory memory;
  const simt::Explored explored = simt::explore({}, [&](simt::ExploredRun& run) -> std::string {
    memory = {};
    run.launch({1, 1}, kernel_ref(SpinsUntilSet{&memory}));
    const auto ended = run.run();
    return ended ? "" : ended.error().message;
  });
  EXPECT_NE(explored.failure.find("without a sleep"), std::string::npos) << explored.failure;
}

struct WaitsForTheClock {
  std::uint64_t* read;
  void operator()(const Thread& thread) const {
    const std::uint64_t now = thread.clock_ns();
    *read = now;
  }
};

TEST(Explore, ATickMayComeBeforeOrAfter) {
  std::uint64_t read = 0;
  bool before = false, after = false;
  const simt::Explored explored = simt::explore({}, [&](simt::ExploredRun& run) -> std::string {
    run.launch({1, 1}, kernel_ref(WaitsForTheClock{&read}));
    run.tick(1'000'000);
    const auto ended = run.run();
    (read >= 1'000'000 ? after : before) = true;
    return ended ? "" : ended.error().message;
  });
  EXPECT_TRUE(explored.complete);
  EXPECT_TRUE(before && after);
}

}  // namespace
}  // namespace wic
