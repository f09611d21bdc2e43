// A lane carries every message in every way of waiting, also while the mode toggles.
#include "common/lane.h"

#include <gtest/gtest.h>

#include <set>

#include "wic/launch.h"

namespace sample {
namespace {

using wic::Way;
using wicprof::Mode;
using wicprof::StrategyId;

constexpr std::uint64_t kTimeout = 30'000'000'000;

// Adds up the contents of each message.
struct Sum {
  wic::Receiver receiver;
  wic::Cycle cycle;
  std::uint32_t tags;
  std::uint32_t* sums;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (wic::Tag tag = thread.block(); tag < tags; tag += thread.block_count()) {
      const wic::Message message = receiver.receive(thread, group, tag, cycle, kTimeout);
      if (message.data == nullptr) return;
      if (thread.index() == 0) {
        const auto* words = reinterpret_cast<const std::uint32_t*>(message.data);
        for (std::uint32_t i = 0; i < message.bytes / 4; ++i) thread.fetch_add(&sums[tag], words[i]);
      }
      receiver.release(thread, group, tag, cycle);
    }
  }
};

struct OneLane {
  std::unique_ptr<wic::Runtime> runtime;
  std::unique_ptr<Lane> lane;
  std::unique_ptr<wic::Stream> stream;
  wic::Array<std::uint32_t> sums;
};

constexpr std::uint32_t kTags = 3;

OneLane make_lane(Way way) {
  OneLane setup;
  wic::RuntimeOptions options;
  options.mode = way == Way::park ? Mode::park : Mode::poll;
  setup.runtime = *wic::Runtime::create(options);
  setup.lane = *Lane::make(*setup.runtime, {"lane", wic::End::cpu(), wic::End::on(0), kTags, 64, way});
  setup.stream = *setup.runtime->device(0).make_stream();
  setup.sums = *wic::Array<std::uint32_t>::make(setup.runtime->device(0), kTags, wic::Memory::pinned_host);
  return setup;
}

// Sends and receives one iteration; returns the sum over everything the device has received so far.
std::uint32_t iterate(OneLane& setup, std::uint32_t iteration) {
  const Lane::Turn turn = setup.lane->turn(iteration);
  EXPECT_TRUE(wic::launch(*setup.stream, {2, 64}, Sum{turn.receiver(), turn.cycle, kTags, setup.sums.data()}));
  for (wic::Tag tag = 0; tag < kTags; ++tag) {
    const std::uint32_t words[2] = {iteration, tag};
    const auto sent = turn.channel->send(tag, turn.cycle, words, sizeof words, kTimeout);
    EXPECT_TRUE(sent && sent->status == wicprof::WaitStatus::satisfied);
  }
  EXPECT_TRUE(setup.stream->synchronize());
  std::uint32_t sum = 0;
  for (wic::Tag tag = 0; tag < kTags; ++tag) sum += setup.sums[tag];
  return sum;
}

std::uint32_t expected(std::uint32_t iterations) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 1; i <= iterations; ++i) sum += kTags * i + 0 + 1 + 2;
  return sum;
}

class LaneInEveryWay : public testing::TestWithParam<Way> {};

TEST_P(LaneInEveryWay, CarriesWhatIsSent) {
  OneLane setup = make_lane(GetParam());
  for (std::uint32_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(iterate(setup, i), expected(i));
    EXPECT_EQ(setup.lane->turn(i).way_index, GetParam() == Way::park ? 1u : 0u);
  }
}

TEST_P(LaneInEveryWay, FollowsTheToggleBetweenIterations) {
  OneLane setup = make_lane(GetParam());
  std::set<std::uint32_t> ways;
  for (std::uint32_t i = 1; i <= 60; ++i) {
    if (i % 7 == 0) {
      const Mode mode = i % 2 == 0 ? Mode::park : Mode::poll;
      ASSERT_TRUE(setup.runtime->set_wait(0, {mode, wicprof::default_strategy(mode)}));
    }
    EXPECT_EQ(iterate(setup, i), expected(i)) << "iteration " << i;
    ways.insert(setup.lane->turn(i).way_index);
  }
  EXPECT_EQ(ways.size(), 2u);
}

TEST_P(LaneInEveryWay, LaterCallersGetTheSameTurn) {
  OneLane setup = make_lane(GetParam());
  const Lane::Turn first = setup.lane->turn(1);
  ASSERT_TRUE(setup.runtime->set_wait(0, {Mode::park, StrategyId::automatic}));
  EXPECT_EQ(setup.lane->turn(2).way_index, 1u);
  ASSERT_TRUE(setup.runtime->set_wait(0, {Mode::poll, StrategyId::poll}));
  const Lane::Turn third = setup.lane->turn(3);
  EXPECT_EQ(third.way_index, 0u);
  EXPECT_EQ(setup.lane->turn(1).channel, first.channel);
  EXPECT_EQ(setup.lane->turn(1).cycle.number, first.cycle.number);
  EXPECT_EQ(third.cycle.iteration, 3u);
  EXPECT_EQ(third.cycle.number, first.way_index == 0 ? 2u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Ways, LaneInEveryWay, testing::Values(Way::naive, Way::poll, Way::park), [](const auto& way) {
  return way.param == Way::naive ? "naive" : way.param == Way::poll ? "poll" : "park";
});

TEST(LaneOfNaiveWay, ReturnsToAtomicsAfterAToggle) {
  OneLane setup = make_lane(Way::naive);
  const auto strategy = [&] { return setup.runtime->strategy(setup.lane->turn(1).channel->data_site()); };
  EXPECT_EQ(strategy(), StrategyId::naive);
  ASSERT_TRUE(setup.runtime->set_wait(0, {Mode::park, StrategyId::automatic}));
  EXPECT_NE(strategy(), StrategyId::naive);
  ASSERT_TRUE(setup.runtime->set_wait(0, {Mode::poll, StrategyId::poll}));
  EXPECT_EQ(strategy(), StrategyId::naive);
}

// Sends one word per tag.
struct Emit {
  wic::Sender sender;
  wic::Cycle cycle;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (wic::Tag tag = 0; tag < kTags; ++tag) {
      const std::uint32_t word = cycle.iteration + tag;
      sender.send(thread, group, tag, cycle, &word, sizeof word, kTimeout);
    }
  }
};

TEST(LaneWithEffShare, CarriesOnlyWhatItsAgentsPush) {
  wic::RuntimeOptions options;
  options.devices = "simt:2";
  const auto runtime = *wic::Runtime::create(options);
  LaneSpec spec{"lane", wic::End::on(0), wic::End::on(1), kTags, 64, Way::poll};
  spec.rival = Rival::effshare;
  const auto lane = *Lane::make(*runtime, spec);
  const auto from = *runtime->device(0).make_stream(), to = *runtime->device(1).make_stream();
  const auto sums = *wic::Array<std::uint32_t>::make(runtime->device(1), kTags, wic::Memory::pinned_host);
  std::uint32_t expected = 0;
  for (std::uint32_t i = 1; i <= 10; ++i) {
    const Lane::Turn turn = lane->turn(i);
    ASSERT_TRUE(wic::launch(*from, {1, 32}, Emit{turn.sender(), turn.cycle}));
    ASSERT_TRUE(from->synchronize());
    // The message is ready, and nobody has pushed it.
    const wic::Receiver receiver = turn.receiver();
    for (wic::Tag tag = 0; tag < kTags; ++tag) EXPECT_LT(*receiver.box.word(tag, turn.cycle), i);
    ASSERT_TRUE(lane->carry(turn, kTimeout));
    ASSERT_TRUE(wic::launch(*to, {1, 32}, Sum{receiver, turn.cycle, kTags, sums.data()}));
    ASSERT_TRUE(to->synchronize());
    for (wic::Tag tag = 0; tag < kTags; ++tag) expected += i + tag;
    EXPECT_EQ(sums[0] + sums[1] + sums[2], expected) << "iteration " << i;
  }
}

}  // namespace
}  // namespace sample
