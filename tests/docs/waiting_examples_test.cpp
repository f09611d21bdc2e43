// Runs the code of README.md, docs/waiting.md and docs/classification.md: on the CPU device and on a GPU, if there is
// one.
#include "docs/examples/waiting/long_form.h"  // first: it needs wic/wait.h alone

#include <gtest/gtest.h>

#include "docs/examples/readme/consumer.h"
#include "docs/examples/waiting/after.h"
#include "docs/examples/waiting/before_host.h"
#include "docs/examples/waiting/exchange.h"
#include "wic/launch.h"

namespace {

using wic::Array;
using wic::Memory;

constexpr std::uint32_t kThreads = 64;
constexpr std::uint64_t kTimeoutNs = 5'000'000'000;

class WaitingExamples : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto made = wic::Runtime::create({GetParam()});
    if (!made && GetParam() != "simt:1") GTEST_SKIP() << "no GPU: " << made.error().message;
    ASSERT_TRUE(made) << made.error().message;
    runtime = *std::move(made);
    const auto declared = declare_sites(*runtime);
    ASSERT_TRUE(declared) << declared.error().message;
    sites = *declared;
    wic::Device& device = runtime->device(0);
    consumer = *device.make_stream();
    producer = *device.make_stream();
    flags = *Array<std::uint32_t>::make(device, 4 * 32, Memory::pinned_host);
    device_flags = *Array<std::uint32_t>::make(device, 4 * 32, Memory::device);
    data = *Array<float>::make(device, 4 * kThreads, Memory::pinned_host);
    device_data = *Array<float>::make(device, 4 * kThreads, Memory::device);
    out = *Array<float>::make(device, 4 * kThreads, Memory::pinned_host);
  }

  std::unique_ptr<wic::Runtime> runtime;
  Sites sites{};
  std::unique_ptr<wic::Stream> consumer, producer;
  Array<std::uint32_t> flags, device_flags;
  Array<float> data, device_data, out;
};

TEST_P(WaitingExamples, ABlockConsumesWhatTheHostPublishes) {
  for (std::uint32_t round = 1; round <= 3; ++round) {
    const Consume kernel{site_for_kernels(*runtime, sites.input), round, &flags[0], data.data(), out.data()};
    ASSERT_TRUE(wic::launch(*consumer, {4, kThreads}, kernel));
    for (std::uint32_t i = 0; i < 4 * kThreads; ++i) data[i] = static_cast<float>(round * 1000 + i);
    publish(*runtime, sites.input, &flags[0], round);
    ASSERT_TRUE(consumer->synchronize());
    for (std::uint32_t i = 0; i < 4 * kThreads; ++i) ASSERT_EQ(out[i], 2 * data[i]) << "round " << round;
  }
}

TEST_P(WaitingExamples, ABlockWhoseDeadlinePassesDoesNotTouchItsData) {
  out[0] = -1;
  const Consume kernel{runtime->site(sites.input, 10 * wic::kMillisecond), 1, &flags[0], data.data(), out.data()};
  ASSERT_TRUE(wic::launch(*consumer, {1, kThreads}, kernel));
  ASSERT_TRUE(consumer->synchronize());
  EXPECT_EQ(out[0], -1);
}

TEST_P(WaitingExamples, TheLongFormWaitsLikeTheShortOne) {
  data[0] = 21;
  runtime->signal(sites.input, 1, &flags[0], 1);
  const ConsumeByLongForm kernel{runtime->view(0), sites.input, 1, kTimeoutNs, &flags[0], data.data(), out.data()};
  ASSERT_TRUE(wic::launch(*consumer, {1, kThreads}, kernel));
  ASSERT_TRUE(consumer->synchronize());
  EXPECT_EQ(out[0], 42);
}

TEST_P(WaitingExamples, TheLongFormsNeedOneHeader) {
  runtime->signal(sites.input, 1, &flags[0], 1);
  const Relay kernel{runtime->view(0), sites.input, sites.done, 1, &flags[0], &flags[32]};
  ASSERT_TRUE(wic::launch(*consumer, {1, kThreads}, kernel));
  EXPECT_TRUE(wait_for_result(*runtime, sites.done, &flags[32], 1));
  ASSERT_TRUE(consumer->synchronize());
}

TEST_P(WaitingExamples, AnAcknowledgementByHandLimitsTheTilesInFlight) {
  const auto declared = declare_tiles(*runtime);
  ASSERT_TRUE(declared) << declared.error().message;
  auto buffer = *Array<float>::make(runtime->device(0), kPlaces * kTile, Memory::pinned_host);
  const ProduceTiles kernel{runtime->site(declared->tiles, kTimeoutNs), runtime->site(declared->space, kTimeoutNs),
                            buffer.data(), &flags[0], &flags[32]};
  ASSERT_TRUE(wic::launch(*producer, {1, kThreads}, kernel));
  const auto sum = take_tiles(*runtime, *declared, buffer.data(), &flags[0], &flags[32]);
  ASSERT_TRUE(sum) << sum.error().message;
  ASSERT_TRUE(producer->synchronize());
  EXPECT_EQ(*sum, static_cast<float>(kTile * kTiles * (kTiles + 1) / 2));
}

TEST_P(WaitingExamples, WarpsConsumeWhatAKernelProduces) {
  for (std::uint32_t round = 1; round <= 3; ++round) {
    const wic::Site halo = runtime->site(sites.halo, kTimeoutNs);
    const ConsumeByWarps consume{halo, round, device_flags.data(), device_data.data(), out.data()};
    const Produce produce{halo, round, device_data.data(), device_flags.data()};
    ASSERT_TRUE(wic::launch(*consumer, {1, 2 * kThreads}, consume));
    ASSERT_TRUE(wic::launch(*producer, {1, kThreads}, produce));
    ASSERT_TRUE(consumer->synchronize());
    ASSERT_TRUE(producer->synchronize());
    for (std::uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(out[i], 2.0f * static_cast<float>(round)) << "thread " << i;
  }
}

TEST_P(WaitingExamples, TheHostWaitsForEveryBlock) {
  const Produce produce{runtime->site(sites.done, kTimeoutNs), 1, data.data(), flags.data()};
  ASSERT_TRUE(wic::launch(*producer, {4, kThreads}, produce));
  for (std::uint32_t block = 0; block < 4; ++block) {
    ASSERT_TRUE(wait_for_result(*runtime, sites.done, &flags[block * 32], 1));
    for (std::uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(data[block * kThreads + i], 1);
  }
  ASSERT_TRUE(producer->synchronize());
}

std::string kind_of(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find(':'));
}
INSTANTIATE_TEST_SUITE_P(Documents, WaitingExamples, testing::Values("simt:1", "cuda:0"), kind_of);

}  // namespace
