// Edge cases of a channel: free space, deadlines, repetitions, requests of many threads, shared pages.
#include "channel_test.h"

#include <atomic>
#include <random>
#include <thread>

#include "src/channel/monitor.h"
#include "src/device/host_doorbell.h"
#include "tests/thread_sanitizer.h"

namespace wic::test {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr wicprof::TimeNs kLong = 20 * wicprof::kSecond;
constexpr wicprof::TimeNs kShort = 2 * wicprof::kMillisecond;

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(bench.open("simt:2")) << bench.why(); }
  std::unique_ptr<Channel> make(ChannelSpec spec) {
    auto made = Channel::make(*bench.runtime, spec);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  static ChannelSpec spec_of(End producer, End consumer, std::uint32_t tags, std::uint32_t max_bytes) {
    ChannelSpec spec;
    spec.name = "channel";
    spec.producer = producer;
    spec.consumer = consumer;
    spec.tags = tags;
    spec.max_bytes = max_bytes;
    return spec;
  }
  static WaitStatus send(Channel& channel, Tag tag, std::uint32_t cycle, wicprof::TimeNs timeout = kLong) {
    std::vector<std::byte> message(length(tag, cycle, channel.spec().max_bytes));
    fill(message, tag, cycle);
    const auto sent = channel.send(tag, cycle, message.data(), static_cast<std::uint32_t>(message.size()), timeout);
    EXPECT_TRUE(sent) << sent.error().message;
    return sent->status;
  }

  ChannelBench bench;
};

TEST_F(ChannelTest, AProducerIsAtMostTwoCyclesAhead) {
  for (const Way way : {Way::naive, Way::poll, Way::park}) {
    ChannelSpec spec = spec_of(End::cpu(), End::cpu(), 2, 64);
    spec.way = way;
    spec.name = "ahead" + std::to_string(static_cast<int>(way));
    const auto channel = make(spec);
    EXPECT_EQ(send(*channel, 0, 1), WaitStatus::satisfied);
    EXPECT_EQ(send(*channel, 0, 2), WaitStatus::satisfied);
    EXPECT_EQ(send(*channel, 0, 3, kShort), WaitStatus::deadline_passed);
    EXPECT_EQ(send(*channel, 1, 1), WaitStatus::satisfied);  // another tag is independent
    EXPECT_EQ(wrong_bytes(channel->receive(0, 1, kLong).data, 0, 1), 0u);
    EXPECT_EQ(send(*channel, 0, 3, kShort), WaitStatus::deadline_passed);  // received, but not released
    channel->release(0, 1);
    EXPECT_EQ(send(*channel, 0, 3), WaitStatus::satisfied);
    for (const std::uint32_t cycle : {2u, 3u}) {
      const auto message = channel->receive(0, cycle, kLong);
      ASSERT_EQ(message.wait.status, WaitStatus::satisfied);
      EXPECT_EQ(message.data.size(), length(0, cycle, 64));
      EXPECT_EQ(wrong_bytes(message.data, 0, cycle), 0u);
      channel->release(0, cycle);
    }
  }
}

TEST_F(ChannelTest, ARepeatedCycleChangesNothing) {
  const auto channel = make(spec_of(End::cpu(), End::cpu(), 1, 16));
  EXPECT_EQ(send(*channel, 0, 1), WaitStatus::satisfied);
  std::byte other[16] = {};
  ASSERT_TRUE(channel->send(0, 1, other, 16, kLong));
  const auto message = channel->receive(0, 1, kLong);
  EXPECT_EQ(message.data.size(), length(0, 1, 16));
  EXPECT_EQ(wrong_bytes(message.data, 0, 1), 0u);
  channel->release(0, 1);
  EXPECT_EQ(send(*channel, 0, 2), WaitStatus::satisfied);
  EXPECT_EQ(channel->receive(0, 2, kLong).wait.status, WaitStatus::satisfied);
  EXPECT_EQ(channel->receive(0, 3, kShort).wait.status, WaitStatus::deadline_passed);
}

TEST_F(ChannelTest, RefusesInvalidMessages) {
  const auto channel = make(spec_of(End::cpu(), End::on(0), 2, 16));
  const std::byte data[32] = {};
  EXPECT_FALSE(channel->send(2, 1, data, 8, kShort));
  EXPECT_FALSE(channel->send(0, 2, data, 8, kShort));  // the first cycle is 1
  EXPECT_FALSE(channel->send(0, 1, data, 17, kShort));
  EXPECT_FALSE(channel->publish_range(0, 3, 1, 8));
  EXPECT_TRUE(channel->send(0, 1, data, 16, kShort));
}

TEST_F(ChannelTest, RefusesInvalidSpecs) {
  const auto refused = [&](const ChannelSpec& spec) { return !Channel::make(*bench.runtime, spec); };
  EXPECT_TRUE(refused(spec_of(End::cpu(), End::on(2), 1, 8)));
  EXPECT_TRUE(refused(spec_of(End::cpu(), End::on(0), 0, 8)));
  EXPECT_TRUE(refused(spec_of(End::cpu(), End::on(0), 1, 0)));
  const auto first = make(spec_of(End::cpu(), End::on(0), 1, 8));
  EXPECT_TRUE(refused(spec_of(End::cpu(), End::on(0), 1, 8)));  // the sites' names are taken
}

TEST_F(ChannelTest, AnEndOnTheCpuHasNoKernelHandle) {
  ChannelSpec spec = spec_of(End::cpu(), End::cpu(), 1, 8);
  const auto host = make(spec);
  EXPECT_FALSE(host->sender());
  EXPECT_FALSE(host->receiver());
  spec = spec_of(End::on(0), End::on(1), 1, 8);
  spec.name = "devices";
  const auto devices = make(spec);
  EXPECT_TRUE(devices->sender());
  EXPECT_TRUE(devices->receiver());
}

TEST_F(ChannelTest, AnInvalidTagHasNoMessage) {
  const auto channel = make(spec_of(End::cpu(), End::cpu(), 2, 8));
  EXPECT_TRUE(channel->message(2, 1).empty());
  EXPECT_TRUE(channel->message(~0u, 1).empty());
}

TEST_F(ChannelTest, DevicesOfTheCpuReachEachOther) {
  for (const std::size_t to : {0, 1}) {
    const PeerAccess access = bench.runtime->device(0).peer_access(bench.runtime->device(to));
    EXPECT_TRUE(access.reach);
    EXPECT_TRUE(access.atomics);
  }
}

TEST_F(ChannelTest, ChannelsShareAndReturnPages) {
  auto pages = *MessagePages::make(bench.runtime->device(0), 8, Memory::pinned_host);
  ChannelSpec spec = spec_of(End::cpu(), End::cpu(), 4, 10'000);  // four slots in three pages, twice
  spec.pages = pages;
  {
    spec.name = "first";
    const auto channel = make(spec);
    EXPECT_EQ(pages->free_pages(), 2u);
    spec.name = "second";
    const auto refused = Channel::make(*bench.runtime, spec);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("contiguous"), std::string::npos);
    EXPECT_EQ(pages->free_pages(), 2u);
    spec.name = "third";
    spec.tags = 1;
    const auto small = make(spec);
    EXPECT_EQ(pages->free_pages(), 0u);
    EXPECT_EQ(send(*channel, 3, 1), WaitStatus::satisfied);
    EXPECT_EQ(send(*small, 0, 1), WaitStatus::satisfied);
    EXPECT_EQ(wrong_bytes(channel->receive(3, 1, kLong).data, 3, 1), 0u);
    EXPECT_EQ(wrong_bytes(small->receive(0, 1, kLong).data, 0, 1), 0u);
  }
  EXPECT_EQ(pages->free_pages(), 8u);
  spec = spec_of(End::on(0), End::on(1), 1, 100);
  spec.name = "elsewhere";
  spec.pages = pages;
  EXPECT_FALSE(Channel::make(*bench.runtime, spec));
}

// Data of an earlier channel must not pass for a message.
TEST_F(ChannelTest, ReusedPagesHoldNoMessages) {
  struct Case {
    End consumer;
    Path path;
    Memory where;
  };
  int number = 0;
  for (const Case& c :
       {Case{End::cpu(), Path::automatic, Memory::pinned_host}, Case{End::on(0), Path::stores, Memory::pinned_host},
        Case{End::on(0), Path::engine, Memory::device}}) {
    ChannelSpec spec = spec_of(End::cpu(), c.consumer, 1, 64);
    spec.way = Way::poll;  // the announcing word is in the pages
    spec.path = c.path;
    spec.pages = *MessagePages::make(bench.runtime->device(0), 2, c.where);
    spec.name = "before" + std::to_string(++number);
    EXPECT_EQ(send(*make(spec), 0, 1), WaitStatus::satisfied);
    spec.name = "after" + std::to_string(number);
    const auto channel = make(spec);
    if (c.consumer.is_cpu()) {
      EXPECT_EQ(channel->receive(0, 1, kShort).wait.status, WaitStatus::deadline_passed);
      continue;
    }
    const std::uint32_t before = bench.count(0, kTimedOut);
    ASSERT_TRUE(
        launch(*bench.streams[0], {1, 32}, ReceiveAll{*channel->receiver(), 1, 2'000'000, bench.counts[0].data()}));
    EXPECT_EQ(bench.count(0, kTimedOut) - before, 32u) << number;
  }
}

/// The blocks are the parts of one message.
struct SendOnePart {
  Sender tx;
  std::uint32_t cycle;
  const std::byte* message;

  WIC_DEVICE void operator()(const Thread& thread) const {
    tx.send_part(thread, block_group(thread), 0, cycle, message, length(0, cycle, tx.box.max_bytes), thread.block(),
                 thread.block_count(), kDeadlineNs);
  }
};

TEST_F(ChannelTest, ARepeatedMessageOfPartsChangesNothing) {
  const auto channel = make(spec_of(End::on(0), End::cpu(), 1, 600));
  const auto message = *Array<std::byte>::make(bench.runtime->device(0), 600, Memory::pinned_host);
  for (const std::uint32_t cycle : {1u, 1u, 2u, 3u}) {
    if (cycle == 3) {
      EXPECT_EQ(wrong_bytes(channel->receive(0, 1, kLong).data, 0, 1), 0u);
      channel->release(0, 1);
    }
    fill({message.data(), 600}, 0, cycle);
    ASSERT_TRUE(launch(*bench.streams[0], {2, 64}, SendOnePart{*channel->sender(), cycle, message.data()}));
    ASSERT_TRUE(bench.streams[0]->synchronize());
  }
  const auto third = channel->receive(0, 3, 200 * wicprof::kMillisecond);
  ASSERT_EQ(third.wait.status, WaitStatus::satisfied);
  EXPECT_EQ(wrong_bytes(third.data, 0, 3), 0u);
}

// The receiver of a short message sees all earlier writes of its sender.
TEST_F(ChannelTest, AShortMessagePublishesEarlierWrites) {
  const auto channel = make(spec_of(End::on(0), End::cpu(), 1, 8));
  run_write_then_tell(bench, *channel, 200);
}

// A bell that nobody rings.
class SilentDoorbell final : public Doorbell {
 public:
  std::uint32_t* word() const override { return nullptr; }
  Result<std::uint32_t> wait(std::uint32_t seen) override { return bell_.wait(seen); }
  Result<> release() override { return bell_.release(); }
  Result<> close() override { return bell_.close(); }

 private:
  HostDoorbell bell_;
};

// A bell that nobody rings, and that tells whether a thread waits for it.
class WatchedDoorbell final : public Doorbell {
 public:
  explicit WatchedDoorbell(std::atomic<bool>& armed) : armed_(armed) {}
  std::uint32_t* word() const override { return nullptr; }
  Result<std::uint32_t> wait(std::uint32_t seen) override {
    armed_ = true;
    Result<std::uint32_t> rung = bell_.wait(seen);
    armed_ = false;
    return rung;
  }
  Result<> release() override { return bell_.release(); }
  Result<> close() override { return bell_.close(); }

 private:
  HostDoorbell bell_;
  std::atomic<bool>& armed_;
};

bool becomes(const std::atomic<bool>& flag, bool wanted) {
  const wicprof::TimeNs end = wicprof::now_ns() + kLong;
  while (flag != wanted && wicprof::now_ns() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag == wanted;
}

// On a GPU an armed bell is work in a stream: whoever synchronizes with the device would wait for it.
TEST(MonitorTest, ARequestThatTimesOutLeavesNoArmedBell) {
  std::atomic<bool> armed{false};
  std::atomic<std::uint32_t> arrived{0};
  Monitor monitor(2, std::make_unique<WatchedDoorbell>(armed), [&](Tag, std::uint32_t) { return arrived.load(); });
  for (std::uint32_t round = 0; round < 3; ++round) {
    const Tag tags[] = {0};
    EXPECT_EQ(monitor.wait(tags, 1, 30 * wicprof::kMillisecond, [] { return false; }), WaitStatus::deadline_passed);
    EXPECT_TRUE(becomes(armed, false)) << round;
  }
  // Another request still waits: its bell stays armed.
  const Tag other[] = {1};
  std::thread longer([&] { EXPECT_EQ(monitor.wait(other, 1, kLong, [] { return false; }), WaitStatus::satisfied); });
  EXPECT_TRUE(becomes(armed, true));
  const Tag tags[] = {0};
  EXPECT_EQ(monitor.wait(tags, 1, 5 * wicprof::kMillisecond, [] { return false; }), WaitStatus::deadline_passed);
  EXPECT_TRUE(armed);
  arrived = 1;
  longer.join();
  EXPECT_TRUE(becomes(armed, false));
}

TEST(MonitorTest, AWaitLooksOnceMoreBeforeItGivesUp) {
  const wicprof::TimeNs begin = wicprof::now_ns();
  Monitor monitor(1, std::make_unique<SilentDoorbell>(), [begin](Tag, std::uint32_t) {
    return wicprof::now_ns() - begin < 4 * wicprof::kMillisecond ? 0u : 1u;
  });
  const Tag tags[] = {0};
  EXPECT_EQ(monitor.wait(tags, 1, 8 * wicprof::kMillisecond, [] { return false; }), WaitStatus::satisfied);
  EXPECT_EQ(monitor.pending(), 0u);
}

// A lost ring delays a wait, but not until its deadline.
TEST(MonitorTest, AWaitLooksPeriodically) {
  std::atomic<std::uint32_t> arrived{0}, questions{0};
  Monitor monitor(1, std::make_unique<SilentDoorbell>(), [&](Tag, std::uint32_t) { return arrived.load(); });
  const Tag tags[] = {0};
  const auto lost = [&] {
    arrived = 1;
    return ++questions == 3;  // ends a wait that does not look
  };
  EXPECT_EQ(monitor.wait(tags, 1, kLong, lost), WaitStatus::satisfied);
  EXPECT_EQ(questions, 1u);
}

/// All messages of a cycle have the same length and different content.
struct CheckEqualLengths {
  Receiver rx;
  std::uint32_t cycles, bytes;
  std::uint32_t* counts;
  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    const Tag tag = thread.block();
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const Message message = rx.receive(thread, group, tag, cycle, kDeadlineNs);
      if (message.data == nullptr) {
        thread.fetch_add(&counts[kTimedOut], 1);
        return;
      }
      if (message.bytes != bytes) thread.fetch_add(&counts[kWrong], 1);
      for (std::uint32_t i = thread.index(); i < bytes; i += thread.block_size()) {
        if (static_cast<std::uint8_t>(message.data[i]) != content(tag, cycle, i)) thread.fetch_add(&counts[kWrong], 1);
      }
      rx.release(thread, group, tag, cycle);
    }
  }
};

TEST_F(ChannelTest, ARangeIsOneCopyPerBatch) {
  ChannelSpec spec = spec_of(End::cpu(), End::on(0), 39, 200);
  spec.path = Path::engine;
  const auto channel = make(spec);
  ASSERT_TRUE(launch(*bench.streams[0], {39, wicprof::kThreadSanitizer ? 4u : 32u},
                     CheckEqualLengths{*channel->receiver(), 9, 150, bench.counts[0].data()}));
  for (std::uint32_t cycle = 1; cycle <= 9; ++cycle) {
    for (Tag tag = 0; tag < 39; ++tag) {
      const auto place = channel->place(tag, cycle, kLong);
      ASSERT_EQ(place.wait.status, WaitStatus::satisfied);
      fill(place.data, tag, cycle);
    }
    if (cycle % 2 == 0) {
      ASSERT_TRUE(channel->publish(20, cycle, 150));  // sent earlier; the range skips it
    }
    ASSERT_TRUE(channel->publish_range(0, 39, cycle, 150));
  }
  EXPECT_EQ(bench.count(0, kWrong), 0u);
  EXPECT_EQ(bench.count(0, kTimedOut), 0u);
}

class Requests : public ChannelTest, public testing::WithParamInterface<int> {
 protected:
  std::unique_ptr<Channel> make_monitored(std::uint32_t tags) {
    ChannelSpec spec = spec_of({GetParam()}, End::cpu(), tags, 40);
    spec.monitored = true;
    return make(spec);
  }
};

TEST_P(Requests, ArrivedMessagesNeedNoWait) {
  const auto channel = make_monitored(4);
  Array<std::byte> buffers = *Array<std::byte>::make(bench.runtime->device(0), 4 * 48, Memory::device);
  if (GetParam() < 0) {
    for (Tag tag = 0; tag < 4; ++tag) EXPECT_EQ(send(*channel, tag, 1), WaitStatus::satisfied);
  } else {
    ASSERT_TRUE(launch(*bench.streams[0], {4, 32},
                       SendAll{*channel->sender(), buffers.data(), 48, 1, kDeadlineNs, bench.counts[0].data()}));
    ASSERT_TRUE(bench.streams[0]->synchronize());
  }
  // With a timeout of 0.
  EXPECT_EQ(channel->receive_all(std::vector<Tag>{3, 0, 2, 2, 1}, 1, 0).status, WaitStatus::satisfied);
  for (Tag tag = 0; tag < 4; ++tag) EXPECT_EQ(wrong_bytes(channel->message(tag, 1), tag, 1), 0u);
  EXPECT_EQ(channel->pending(), 0u);
}

TEST_P(Requests, ADeadlineIsAResultAndLeavesNothingBehind) {
  const auto channel = make_monitored(3);
  EXPECT_EQ(channel->receive_all(std::vector<Tag>{0, 1}, 1, kShort).status, WaitStatus::deadline_passed);
  EXPECT_EQ(channel->pending(), 0u);
  std::thread again([&] {
    EXPECT_EQ(channel->receive_all(std::vector<Tag>{0, 1, 2}, 1, kLong).status, WaitStatus::satisfied);
  });
  Array<std::byte> buffers = *Array<std::byte>::make(bench.runtime->device(0), 3 * 48, Memory::device);
  if (GetParam() < 0) {
    for (Tag tag = 0; tag < 3; ++tag) EXPECT_EQ(send(*channel, tag, 1), WaitStatus::satisfied);
  } else {
    EXPECT_TRUE(launch(*bench.streams[0], {3, 32},
                       SendAll{*channel->sender(), buffers.data(), 48, 1, kDeadlineNs, bench.counts[0].data()}));
  }
  again.join();
  EXPECT_TRUE(bench.streams[0]->synchronize());  // the kernel ends after its last message
  EXPECT_EQ(channel->pending(), 0u);
}

TEST_P(Requests, ALostProducerEndsThem) {
  const auto channel = make_monitored(2);
  std::thread sleeper(
      [&] { EXPECT_EQ(channel->receive_all(std::vector<Tag>{1}, 1, kLong).status, WaitStatus::producer_lost); });
  while (channel->pending() == 0) std::this_thread::yield();
  EXPECT_TRUE(bench.runtime->release_waiters(0));
  sleeper.join();
  EXPECT_EQ(channel->pending(), 0u);
}

// Threads request overlapping sets of tags, some with deadlines that pass, while the strategy is toggled.
TEST_P(Requests, ManyThreadsAskForOverlappingTags) {
  constexpr std::uint32_t kTags = 12, kCycles = 40, kThreads = 6;
  const auto channel = make_monitored(kTags);
  Array<std::byte> buffers = *Array<std::byte>::make(bench.runtime->device(0), kTags * 48, Memory::device);
  std::atomic<std::uint32_t> arrived[kCycles + 1] = {};
  std::atomic<std::uint32_t> missed{0}, wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
        std::vector<Tag> tags;
        for (Tag tag = 0; tag < kTags; ++tag) {
          if (random() % 3 == 0) tags.push_back(tag);
        }
        if (random() % 4 == 0) static_cast<void>(channel->receive_all(tags, cycle, 50 * wicprof::kMicrosecond));
        if (channel->receive_all(tags, cycle, kLong).status != WaitStatus::satisfied) missed += 1;
        for (const Tag tag : tags) wrong += wrong_bytes(channel->message(tag, cycle), tag, cycle);
        // The last of the threads waits for all and releases them.
        if (arrived[cycle].fetch_add(1) + 1 != kThreads) {
          arrived[cycle].wait(kThreads - 1);
          while (arrived[cycle].load() != kThreads + 1) std::this_thread::yield();
          continue;
        }
        for (Tag tag = 0; tag < kTags; ++tag) {
          if (channel->receive(tag, cycle, kLong).wait.status != WaitStatus::satisfied) missed += 1;
          channel->release(tag, cycle);
        }
        arrived[cycle] = kThreads + 1;
        arrived[cycle].notify_all();
      }
    });
  }
  std::atomic<bool> ended{false};
  std::thread toggler([&] {
    for (int i = 0; !ended; ++i) {
      EXPECT_TRUE(bench.runtime->set_wait(0, {Mode::park, i % 2 == 0 ? StrategyId::poll : StrategyId::backoff}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  if (GetParam() < 0) {
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      for (Tag tag = 0; tag < kTags; ++tag)
        EXPECT_EQ(send(*channel, (tag * 5 + cycle) % kTags, cycle), WaitStatus::satisfied);
    }
  } else {
    EXPECT_TRUE(launch(*bench.streams[0], {kTags, 32},
                       SendAll{*channel->sender(), buffers.data(), 48, kCycles, kDeadlineNs, bench.counts[0].data()}));
  }
  for (std::thread& thread : threads) thread.join();
  ended = true;
  toggler.join();
  EXPECT_TRUE(bench.streams[0]->synchronize());
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(channel->pending(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Simt, Requests, testing::Values(-1, 0), [](const auto& it) {
  return it.param < 0 ? std::string("from_cpu") : std::string("from_device");
});

// A consumer without a producer leaves at its deadline, with every way.
TEST_F(ChannelTest, AKernelLeavesByItsDeadline) {
  for (const Way way : {Way::naive, Way::poll, Way::park}) {
    ChannelSpec spec = spec_of(End::cpu(), End::on(0), 2, 400);
    spec.name = "never" + std::to_string(static_cast<int>(way));
    spec.way = way;
    const auto channel = make(spec);
    const std::uint32_t before = bench.count(0, kTimedOut);
    ASSERT_TRUE(
        launch(*bench.streams[0], {2, 32}, ReceiveAll{*channel->receiver(), 3, 2'000'000, bench.counts[0].data()}));
    EXPECT_EQ(bench.count(0, kTimedOut) - before, 2u * 32);
    // The next kernel finds everything unchanged.
    ASSERT_TRUE(
        launch(*bench.streams[0], {2, 32}, ReceiveAll{*channel->receiver(), 2, kDeadlineNs, bench.counts[0].data()}));
    for (Tag tag = 0; tag < 2; ++tag) {
      for (const std::uint32_t cycle : {1u, 2u}) EXPECT_EQ(send(*channel, tag, cycle), WaitStatus::satisfied);
    }
    EXPECT_EQ(bench.count(0, kTimedOut) - before, 2u * 32);
    EXPECT_EQ(bench.count(0, kWrong), 0u);
  }
}

}  // namespace
}  // namespace wic::test
