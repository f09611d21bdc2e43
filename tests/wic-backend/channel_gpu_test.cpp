// Channels on real GPUs: between the CPU and a GPU, within one GPU, and between two if the machine has two.
#include "channel_ends_test.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <future>
#include <map>

namespace wic::test {
namespace {

using wicprof::WaitStatus;

std::string case_name(const testing::TestParamInfo<EndsCase>& info) { return name_of(info.param); }

// Kept open, because opening a GPU is slow. Without a runtime if the GPU does not exist.
ChannelBench* bench_on(const std::string& devices) {
  static auto* const kept = new std::map<std::string, std::unique_ptr<ChannelBench>>;
  std::unique_ptr<ChannelBench>& bench = (*kept)[devices];
  if (bench == nullptr) {
    bench = std::make_unique<ChannelBench>();
    bench->open(devices);
  }
  return bench.get();
}

std::vector<EndsCase> with_cpu() {
  std::vector<EndsCase> all;
  for (const auto& [producer, consumer] : {std::pair{-1, 0}, std::pair{0, -1}}) {
    for (const std::uint32_t max_bytes : {1u, 8u, 100u, 1000u, 20'000u}) {
      for (const Way way : {Way::naive, Way::poll, Way::park}) all.push_back({producer, consumer, way, max_bytes});
    }
    all.push_back({producer, consumer, Way::poll, 300'000});
    all.push_back({producer, consumer, Way::park, 300'000});
    all.push_back({producer, consumer, Way::park, 8, Path::automatic, false, true});
    all.push_back({producer, consumer, Way::park, 301, Path::automatic, false, true});
  }
  for (const Way way : {Way::poll, Way::park}) {
    for (const std::uint32_t max_bytes : {8u, 1001u, 300'000u}) {
      all.push_back({-1, 0, way, max_bytes, Path::engine});
      all.push_back({-1, 0, way, max_bytes, Path::engine, false, true});
    }
    all.push_back({-1, 0, way, 300'000, Path::stores});
  }
  all.push_back({0, -1, Way::park, 8, Path::automatic, true, true});
  all.push_back({0, -1, Way::park, 1000, Path::automatic, true, true});
  return all;
}

std::vector<EndsCase> between_devices() {
  std::vector<EndsCase> all;
  for (const std::uint32_t max_bytes : {1u, 8u, 100u, 1000u, 20'000u}) {
    for (const Way way : {Way::naive, Way::poll, Way::park}) all.push_back({0, 1, way, max_bytes});
  }
  all.push_back({0, 1, Way::park, 300'000});
  all.push_back({0, 1, Way::park, 300, Path::automatic, false, true});
  all.push_back({0, 1, Way::park, 301, Path::automatic, false, true});
  return all;
}

// At least 100 messages of 1 to max_bytes bytes.
void run_case(const char* devices, const EndsCase& c) {
  ChannelBench& bench = *bench_on(devices);
  if (bench.runtime == nullptr) GTEST_SKIP() << "no " << devices << ": " << bench.why();
  run_ends(bench, c, 4, 25, 128);
}

class CpuAndGpu : public testing::TestWithParam<EndsCase> {};
TEST_P(CpuAndGpu, EveryMessageArrivesAsSent) { run_case("cuda:0", GetParam()); }
INSTANTIATE_TEST_SUITE_P(Gpu, CpuAndGpu, testing::ValuesIn(with_cpu()), case_name);

// Peer memory is the GPU's own memory here.
class WithinOneGpu : public testing::TestWithParam<EndsCase> {};
TEST_P(WithinOneGpu, EveryMessageArrivesAsSent) { run_case("cuda:0,cuda:0", GetParam()); }
INSTANTIATE_TEST_SUITE_P(Gpu, WithinOneGpu, testing::ValuesIn(between_devices()), case_name);

class TwoGpus : public testing::TestWithParam<EndsCase> {};
TEST_P(TwoGpus, EveryMessageArrivesAsSent) { run_case("cuda:0,cuda:1", GetParam()); }
INSTANTIATE_TEST_SUITE_P(Gpu, TwoGpus, testing::ValuesIn(between_devices()), case_name);

// The message is one store; publishing earlier writes with it needs a separate fence.
TEST(ChannelOnGpu, AShortMessagePublishesEarlierWrites) {
  ChannelBench bench;
  if (!bench.open("cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  ChannelSpec spec;
  spec.name = "tell";
  spec.producer = End::on(0);
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;
  run_write_then_tell(bench, **channel, 20'000);
}

TEST(ChannelOnGpu, AGpuReachesItsOwnMemory) {
  ChannelBench bench;
  if (!bench.open("cuda:0,cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  const PeerAccess access = bench.runtime->device(0).peer_access(bench.runtime->device(1));
  EXPECT_TRUE(access.reach);
  EXPECT_TRUE(access.atomics);
}

// Data of an earlier channel in the GPU's pages must not pass for a message.
TEST(ChannelOnGpu, ReusedPagesHoldNoMessages) {
  ChannelBench bench;
  if (!bench.open("cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  ChannelSpec spec;
  spec.producer = End::cpu();
  spec.consumer = End::on(0);
  spec.way = Way::poll;
  spec.path = Path::engine;
  spec.pages = *MessagePages::make(bench.runtime->device(0), 2, Memory::device);
  spec.name = "before";
  {
    auto channel = Channel::make(*bench.runtime, spec);
    ASSERT_TRUE(channel) << channel.error().message;
    const std::uint32_t data[2] = {1, 2};
    ASSERT_TRUE((*channel)->send(0, 1, data, sizeof data, wicprof::kSecond));
  }
  spec.name = "after";
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;
  ASSERT_TRUE(
      launch(*bench.streams[0], {1, 32}, ReceiveAll{*(*channel)->receiver(), 1, 2'000'000, bench.counts[0].data()}));
  EXPECT_EQ(bench.count(0, kTimedOut), 32u);
}

// What the wait armed in the GPU's streams is gone, so that nobody who waits for the whole GPU waits for it.
TEST(MonitorOnGpu, AReceiveThatTimesOutLeavesTheGpuIdle) {
  ChannelBench bench;
  if (!bench.open("cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  ChannelSpec spec;
  spec.name = "timeout";
  spec.producer = End::on(0);
  spec.max_bytes = 64;
  spec.monitored = true;
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ((*channel)->receive_all(std::vector<Tag>{0}, 1, 30 * wicprof::kMillisecond).status,
              WaitStatus::deadline_passed);
    auto idle = std::async(std::launch::async, [] { return cudaDeviceSynchronize(); });
    if (idle.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
      ADD_FAILURE() << "the GPU waits for a bell that nobody rings";
      (*channel).reset();  // ends the wait, and with it the thread above
    }
    EXPECT_EQ(idle.get(), cudaSuccess);
  }
}

// A host thread that waits for several tags sleeps: a long wait costs almost no CPU time, and the thread is woken.
TEST(MonitorOnGpu, AThreadSleepsUntilAllItsTagsHaveArrived) {
  ChannelBench bench;
  if (!bench.open("cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  ChannelSpec spec;
  spec.name = "sleep";
  spec.producer = End::on(0);
  spec.tags = 3;
  spec.max_bytes = 64;
  spec.monitored = true;
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;
  auto buffers = *Array<std::byte>::make(bench.runtime->device(0), 3 * 64, Memory::device);
  std::atomic<bool> satisfied{false};
  std::thread sleeper([&] {
    satisfied =
        (*channel)->receive_all(std::vector<Tag>{2, 0, 1}, 1, 10 * wicprof::kSecond).status == WaitStatus::satisfied;
  });
  while ((*channel)->pending() == 0) std::this_thread::yield();
  EXPECT_EQ((*channel)->receive_all(std::vector<Tag>{1}, 1, wicprof::kMillisecond).status, WaitStatus::deadline_passed);
  EXPECT_EQ((*channel)->pending(), 1u);
  EXPECT_TRUE(launch(*bench.streams[0], {3, 64},
                     SendAll{*(*channel)->sender(), buffers.data(), 64, 1, kDeadlineNs, bench.counts[0].data()}));
  sleeper.join();
  EXPECT_TRUE(satisfied);
  EXPECT_TRUE(bench.streams[0]->synchronize());  // the kernel ends after its last message
  for (Tag tag = 0; tag < 3; ++tag) EXPECT_EQ(wrong_bytes((*channel)->message(tag, 1), tag, 1), 0u);
  EXPECT_EQ((*channel)->pending(), 0u);
}

// The channel ends while its doorbell is armed for a request that was never satisfied.
TEST(MonitorOnGpu, EndsWithoutEverBeingRung) {
  ChannelBench bench;
  if (!bench.open("cuda:0")) GTEST_SKIP() << "no cuda:0: " << bench.why();
  ChannelSpec spec;
  spec.name = "never";
  spec.producer = End::on(0);
  spec.monitored = true;
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;
  EXPECT_EQ((*channel)->receive_all(std::vector<Tag>{0}, 1, 20 * wicprof::kMillisecond).status,
            WaitStatus::deadline_passed);
}

}  // namespace
}  // namespace wic::test
