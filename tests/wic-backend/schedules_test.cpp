// Waits under thousands of seeded schedules of the CPU device: no wait hangs or ends without its condition, under every
// strategy and with toggles at any moment.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "schedules/deterministic.h"
#include "wic/launch.h"
#include "wic/signal.h"
#include "wic/wait.h"

namespace wic {
namespace {

using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr StrategyId kEvery[] = {StrategyId::poll,
                                 StrategyId::backoff,
                                 StrategyId::predicted_sleep,
                                 StrategyId::leader_bar_sync,
                                 StrategyId::shared_watch,
                                 StrategyId::leader_mbarrier,
                                 StrategyId::leader_mbarrier_hint,
                                 StrategyId::naive};

// A device's backend state in plain memory.
struct State {
  std::vector<StrategyWord> strategies = std::vector<StrategyWord>(kMaxSites);
  std::vector<SiteMemory> sites = std::vector<SiteMemory>(kMaxSites);
  std::vector<WatchSlot> watch = std::vector<WatchSlot>(16);
  std::vector<RingHead> heads = std::vector<RingHead>(2);
  std::vector<DeviceRecord> records = std::vector<DeviceRecord>(2 * 1024);
  alignas(128) std::uint32_t word = 0;
  std::uint32_t changes = 0;
  StewardLine steward{};
  ControlPage control{};

  DeviceView view() {
    DeviceView v;
    v.strategies = strategies.data();
    v.sites = sites.data();
    v.watch = {watch.data(), 16, 2};
    v.steward = &steward;
    v.control = &control;
    v.ring_heads = heads.data();
    v.records = records.data();
    v.ring_capacity_log2 = 10;
    v.sm_count = 2;
    return v;
  }
  void toggle(StrategyId strategy) {
    std::atomic_ref(strategies[1].word).store((++changes << 8) | static_cast<std::uint32_t>(strategy));
  }
  // Writes only the page in host memory: a steward must copy the change to the device.
  void toggle_on_page(StrategyId strategy) {
    control.site_count = 1;
    std::atomic_ref(control.words[0]).store((++changes << 8) | static_cast<std::uint32_t>(strategy));
    std::atomic_ref(control.sequence).store(control.sequence + 1);
  }
  std::uint32_t recorded() const { return heads[0].next + heads[1].next; }
};

struct Waiter {
  DeviceView view;
  const std::uint32_t* word;
  const std::uint32_t* data;  // written by the producer before it releases the word
  std::uint32_t rounds;
  std::uint64_t timeout_ns;
  bool each_thread;
  std::uint32_t* satisfied;
  std::uint32_t* timed_out;
  std::uint32_t* early;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      const WaitResult wait = wait_until(thread, view, group, 1, round, word, AtLeast{round}, timeout_ns);
      if (wait.status == WaitStatus::satisfied) {
        thread.fetch_add(satisfied, 1);
        if (thread.load(data) < round) thread.fetch_add(early, 1);
      } else {
        thread.fetch_add(timed_out, 1);
      }
    }
  }
};

struct Counts {
  std::uint32_t satisfied = 0, timed_out = 0, early = 0, data = 0;
};

struct Case {
  StrategyId strategy;
  bool each_thread;
};

class EverySchedule : public testing::TestWithParam<Case> {};

TEST_P(EverySchedule, EveryWaitEndsWithItsData) {
  constexpr std::uint32_t kBlocks = 4, kThreads = 64, kRounds = 3;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    State state;
    Counts counts;
    state.toggle(GetParam().strategy);
    simt::DeterministicWorld world(seed);
    world.launch({kBlocks, kThreads},
                 kernel_ref(Waiter{state.view(), &state.word, &counts.data, kRounds, kSecond, GetParam().each_thread,
                                   &counts.satisfied, &counts.timed_out, &counts.early}));
    world.add_host_thread([&] {
      for (std::uint32_t round = 1; round <= kRounds; ++round) {
        world.host_sleep(seed * 211 % 40'000);
        std::atomic_ref(counts.data).store(round);
        std::atomic_ref(state.word).store(round);
      }
    });
    const auto run = world.run(5'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts.satisfied, kBlocks * kThreads * kRounds) << "seed " << seed;
    ASSERT_EQ(counts.timed_out, 0u) << "seed " << seed;
    ASSERT_EQ(counts.early, 0u) << "seed " << seed;
    const std::uint32_t records = kBlocks * kRounds * (GetParam().each_thread ? kThreads / kWarpSize : 1);
    ASSERT_EQ(state.recorded(), records) << "seed " << seed;
  }
}

TEST_P(EverySchedule, TogglesDuringWaitsHangNothing) {
  constexpr std::uint32_t kBlocks = 3, kThreads = 64, kRounds = 3;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    State state;
    Counts counts;
    state.toggle(GetParam().strategy);
    simt::DeterministicWorld world(seed);
    world.launch({kBlocks, kThreads},
                 kernel_ref(Waiter{state.view(), &state.word, &counts.data, kRounds, kSecond, GetParam().each_thread,
                                   &counts.satisfied, &counts.timed_out, &counts.early}));
    bool ended = false;
    world.add_host_thread([&] {
      for (std::uint32_t i = 0; !ended; ++i) {
        state.toggle(kEvery[(seed + i) % std::size(kEvery)]);
        world.host_sleep(500 + seed * 37 % 5'000);
      }
    });
    world.add_host_thread([&] {
      for (std::uint32_t round = 1; round <= kRounds; ++round) {
        world.host_sleep(20'000 + seed * 211 % 40'000);
        std::atomic_ref(counts.data).store(round);
        std::atomic_ref(state.word).store(round);
      }
      while (std::atomic_ref(counts.satisfied).load() + std::atomic_ref(counts.timed_out).load() <
             kBlocks * kThreads * kRounds) {
        world.host_sleep(1'000);
      }
      ended = true;
    });
    const auto run = world.run(10'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts.satisfied, kBlocks * kThreads * kRounds) << "seed " << seed;
    ASSERT_EQ(counts.early, 0u) << "seed " << seed;
  }
}

// Only groups with a leader: where every thread polls, none is free to be steward.
class WithSteward : public EverySchedule {};

TEST_P(WithSteward, TheStewardBringsTheChange) {
  constexpr std::uint32_t kBlocks = 3, kThreads = 64;
  const StrategyId other = GetParam().strategy == StrategyId::poll ? StrategyId::shared_watch : StrategyId::poll;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    State state;
    Counts counts;
    state.toggle(GetParam().strategy);
    simt::DeterministicWorld world(seed);
    world.launch({kBlocks, kThreads},
                 kernel_ref(Waiter{state.view(), &state.word, &counts.data, 1, kSecond, GetParam().each_thread,
                                   &counts.satisfied, &counts.timed_out, &counts.early}));
    world.add_host_thread([&] {
      world.host_sleep(100'000);
      state.toggle_on_page(other);
      while (std::atomic_ref(state.control.applied).load() != 1) world.host_sleep(1'000);
      world.host_sleep(1'000'000);  // a leader that stands by looks at its strategy within that time
      counts.data = 1;
      std::atomic_ref(state.word).store(1);
    });
    const auto run = world.run(10'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts.satisfied, kBlocks * kThreads) << "seed " << seed;
    std::uint32_t switched = 0;
    for (std::uint32_t sm = 0; sm < 2; ++sm) {
      for (std::uint32_t i = 0; i < state.heads[sm].next; ++i) {
        const DeviceRecord& record = state.records[sm * 1024 + i];
        ASSERT_EQ((record.quads[0].payload[0] >> 8) & 0xff, static_cast<std::uint32_t>(other)) << "seed " << seed;
        switched += record.quads[1].payload[2] != 0 ? 1 : 0;
      }
    }
    ASSERT_GE(switched, kBlocks) << "seed " << seed;  // at least one per group's leader
  }
}

TEST_P(EverySchedule, ADeadlineIsAResultAndLeavesNothingBehind) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    State state;
    Counts counts;
    state.toggle(GetParam().strategy);
    simt::DeterministicWorld world(seed);
    const auto launch = [&](std::uint64_t timeout) {
      world.launch({2, 64},
                   kernel_ref(Waiter{state.view(), &state.word, &counts.data, 1, timeout, GetParam().each_thread,
                                     &counts.satisfied, &counts.timed_out, &counts.early}));
    };
    launch(30'000);  // gives up
    world.add_host_thread([&] {
      world.host_sleep(400'000);
      launch(kSecond);  // the same site and word again
      world.host_sleep(100'000);
      counts.data = 1;
      std::atomic_ref(state.word).store(1);
    });
    const auto run = world.run(5'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    ASSERT_EQ(counts.timed_out, 2u * 64) << "seed " << seed;
    ASSERT_EQ(counts.satisfied, 2u * 64) << "seed " << seed;
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(wicprof::strategy_name(info.param.strategy)) +
         (info.param.each_thread ? "_each_thread" : "_leader");
}

std::vector<Case> cases(std::initializer_list<bool> each_thread) {
  std::vector<Case> all;
  for (const StrategyId strategy : kEvery) {
    for (const bool each : each_thread) all.push_back({strategy, each});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Strategies, EverySchedule, testing::ValuesIn(cases({false, true})), case_name);
INSTANTIATE_TEST_SUITE_P(Strategies, WithSteward, testing::ValuesIn(cases({false})), case_name);

// Waits on different words must not delay each other, however many share the watch table.
struct ManyWords {
  DeviceView view;
  const std::uint32_t* words;
  std::uint32_t* order;
  std::uint32_t* next;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t block = thread.block();
    wait_until(thread, view, block_group(thread), 1, 1, &words[block], AtLeast{1}, kSecond);
    if (thread.index() == 0) order[thread.fetch_add(next, 1)] = block;
  }
};

TEST(SharedWatch, WaitsOnDifferentWordsAreIndependent) {
  constexpr std::uint32_t kWords = 24;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    State state;
    state.toggle(StrategyId::shared_watch);
    std::vector<std::uint32_t> words(kWords), order(kWords);
    std::uint32_t next = 0;
    simt::DeterministicWorld world(seed);
    world.launch({kWords, 32}, kernel_ref(ManyWords{state.view(), words.data(), order.data(), &next}));
    world.add_host_thread([&] {
      for (std::uint32_t i = kWords; i-- > 0;) {  // from last to first, each after the previous waiter has left
        std::atomic_ref(words[i]).store(1);
        while (std::atomic_ref(next).load() < kWords - i) world.host_sleep(500);
      }
    });
    const auto run = world.run(5'000'000);
    ASSERT_TRUE(run) << run.error().message << ", seed " << seed;
    for (std::uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(order[i], kWords - 1 - i);
  }
}

TEST(SharedWatch, OneOfManyWaitersReadsTheWord) {
  State state;
  Counts counts;
  state.toggle(StrategyId::shared_watch);
  simt::DeterministicWorld world(7);
  world.launch({16, 32}, kernel_ref(Waiter{state.view(), &state.word, &counts.data, 1, kSecond, false,
                                           &counts.satisfied, &counts.timed_out, &counts.early}));
  world.add_host_thread([&] {
    world.host_sleep(300'000);
    counts.data = 1;
    std::atomic_ref(state.word).store(1);
  });
  ASSERT_TRUE(world.run(5'000'000));
  std::uint32_t readers = 0;
  for (std::uint32_t sm = 0; sm < 2; ++sm) {
    for (std::uint32_t i = 0; i < state.heads[sm].next; ++i) {
      const std::uint32_t polls = state.records[sm * 1024 + i].quads[1].payload[1];
      readers += polls > 1 ? 1 : 0;
    }
  }
  EXPECT_EQ(state.recorded(), 16u);
  EXPECT_EQ(readers, 1u);
}

TEST(DeterministicWorld, TheSameSeedGivesTheSameRun) {
  const auto ends_at = [](std::uint64_t seed) {
    State state;
    Counts counts;
    simt::DeterministicWorld world(seed);
    world.launch({3, 32}, kernel_ref(Waiter{state.view(), &state.word, &counts.data, 1, kSecond, false,
                                            &counts.satisfied, &counts.timed_out, &counts.early}));
    world.add_host_thread([&] {
      for (int i = 0; i < 20; ++i) world.host_switch();
      std::atomic_ref(state.word).store(1);
    });
    EXPECT_TRUE(world.run(1'000'000));
    return world.now_ns();
  };
  EXPECT_EQ(ends_at(3), ends_at(3));
  EXPECT_NE(ends_at(3), ends_at(4));
}

struct Stuck {
  WIC_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() != 0) thread.sync_block();
  }
};

TEST(DeterministicWorld, FindsADeadlock) {
  simt::DeterministicWorld world(1);
  world.launch({1, 32}, kernel_ref(Stuck{}));
  const auto run = world.run(100'000);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find("deadlock"), std::string::npos);
}

}  // namespace
}  // namespace wic
