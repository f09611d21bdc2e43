// Runs the code of docs/channels.md in both modes: on the CPU device and on a GPU, if there is one.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "docs/examples/channels/channels.h"

namespace {

using wic::Array;
using wic::Channel;
using wic::Memory;
using wicprof::Mode;
using wicprof::WaitStatus;

/// The content of results and faces: each number identifies its sender.
WIC_DEVICE float number_of(wic::Tag tag, std::uint32_t cycle, std::uint32_t i) {
  return static_cast<float>(tag * 10'000 + cycle * 100 + i % 100);
}

/// Block b sends the cycles of tag b.
struct SendResults {
  wic::Sender tx;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    const wic::Tag tag = thread.block();
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      const wic::Place place = tx.place(thread, group, tag, cycle, kTimeoutNs);
      if (place.data == nullptr) return;
      auto* const numbers = reinterpret_cast<float*>(place.data);
      for (std::uint32_t i = thread.index(); i < kCount; i += thread.block_size())
        numbers[i] = number_of(tag, cycle, i);
      tx.publish(thread, group, tag, cycle, kCount * sizeof(float));
    }
  }
};

class ChannelsExamples : public testing::TestWithParam<std::tuple<std::string, Mode>> {
 protected:
  void SetUp() override {
    const auto& [devices, mode] = GetParam();
    auto made = wic::Runtime::create({.devices = devices, .mode = mode});
    if (!made && devices != "simt:1") GTEST_SKIP() << "no GPU: " << made.error().message;
    ASSERT_TRUE(made) << made.error().message;
    runtime = *std::move(made);
    wic::Device& device = runtime->device(0);
    stream = *device.make_stream();
    floats = *Array<float>::make(device, kFaces * kCount, Memory::pinned_host);
    status = *Array<std::uint32_t>::make(device, 1, Memory::pinned_host);
    large = *Array<float>::make(device, kLarge, Memory::device);
    from = *Array<float>::make(device, kLarge, Memory::pinned_host);
  }
  std::unique_ptr<Channel> opened(wicprof::Result<std::unique_ptr<Channel>> made) {
    EXPECT_TRUE(made) << made.error().message;
    return made ? *std::move(made) : nullptr;
  }
  /// Called before a channel is destroyed: no kernel may use the channel then.
  void synchronize() {
    const auto done = stream->synchronize();
    ASSERT_TRUE(done) << done.error().message;
  }

  static constexpr std::uint32_t kLarge = 20'001;
  std::unique_ptr<wic::Runtime> runtime;
  std::unique_ptr<wic::Stream> stream;
  Array<float> floats, large, from;
  Array<std::uint32_t> status;
};

TEST_P(ChannelsExamples, TheHostFeedsAKernel) {
  const auto numbers = opened(open_numbers(*runtime));
  ASSERT_NE(numbers, nullptr);
  const auto fed = feed(*numbers, *stream, floats.data(), status.data());
  synchronize();
  ASSERT_TRUE(fed) << fed.error().message;
  EXPECT_EQ(status[0], static_cast<std::uint32_t>(WaitStatus::satisfied));
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(floats[i], kCycles * (kCycles + 1) / 2) << i;
}

TEST_P(ChannelsExamples, AKernelWhoseProducerIsGoneEnds) {
  const auto numbers = opened(open_numbers(*runtime));
  ASSERT_NE(numbers, nullptr);
  status[0] = static_cast<std::uint32_t>(WaitStatus::satisfied);
  ASSERT_TRUE(wic::launch(*stream, {1, 64}, AddUp{*numbers->receiver(), floats.data(), status.data()}));
  const auto stopped = stop_feeding(*runtime, *numbers);
  synchronize();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(status[0], static_cast<std::uint32_t>(WaitStatus::producer_lost));
  EXPECT_EQ(floats[0], 0);
}

TEST_P(ChannelsExamples, TheHostCollectsWhatAKernelSends) {
  const auto squares = opened(open_squares(*runtime));
  ASSERT_NE(squares, nullptr);
  const auto sum = collect(*squares, *stream);
  synchronize();
  ASSERT_TRUE(sum) << sum.error().message;
  std::uint64_t expected = 0;
  for (std::uint64_t cycle = 1; cycle <= kCycles; ++cycle) {
    for (std::uint64_t i = 0; i < kCount; ++i) expected += cycle * i * i;
  }
  EXPECT_NEAR(*sum, static_cast<double>(expected), 1e-4 * static_cast<double>(expected));
}

TEST_P(ChannelsExamples, AKernelReceivesSeveralTagsAtOnce) {
  for (const wic::Path path : {wic::Path::stores, wic::Path::engine}) {
    const std::string name = path == wic::Path::stores ? "faces.stores" : "faces.engine";
    const auto halo = opened(Channel::make(*runtime, {.name = name,
                                                      .producer = wic::End::cpu(),
                                                      .consumer = wic::End::on(0),
                                                      .tags = kFaces,
                                                      .max_bytes = kCount * sizeof(float),
                                                      .path = path}));
    ASSERT_NE(halo, nullptr);
    ASSERT_TRUE(wic::launch(*stream, {1, 64}, Halo{*halo->receiver(), floats.data()}));
    std::vector<float> cube(kFaces * kCount);
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      for (std::uint32_t i = 0; i < cube.size(); ++i) cube[i] = number_of(i / kCount, cycle, i % kCount);
      const auto sent = send_faces(*halo, cycle, cube);
      if (!sent) ADD_FAILURE() << sent.error().message;
    }
    synchronize();
    for (std::uint32_t i = 0; i < cube.size(); ++i) ASSERT_EQ(floats[i], cube[i]) << name << " " << i;
  }
}

TEST_P(ChannelsExamples, BlocksSendAMessageTogether) {
  constexpr std::uint32_t kBlocks = 4;
  const auto channel = opened(Channel::make(*runtime, {.name = "parts",
                                                       .producer = wic::End::on(0),
                                                       .consumer = wic::End::cpu(),
                                                       .max_bytes = kLarge * sizeof(float)}));
  ASSERT_NE(channel, nullptr);
  for (std::uint32_t i = 0; i < kLarge; ++i) from[i] = static_cast<float>(i);
  ASSERT_TRUE(stream->copy(large.data(), from.data(), large.bytes()));
  ASSERT_TRUE(wic::launch(*stream, {.blocks = kBlocks, .threads = 64, .co_resident = true},
                          SendLarge{*channel->sender(), large.data(), kLarge * sizeof(float), kBlocks}));
  for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
    const auto message = channel->receive(0, cycle, kTimeoutNs);
    if (message.data.size() != kLarge * sizeof(float)) {
      ADD_FAILURE() << "cycle " << cycle << ": " << message.data.size() << " bytes";
      break;
    }
    EXPECT_EQ(std::memcmp(message.data.data(), from.data(), message.data.size()), 0) << "cycle " << cycle;
    channel->release(0, cycle);
  }
  synchronize();
}

TEST_P(ChannelsExamples, TheHostWaitsForSeveralTagsAtOnce) {
  const auto results = opened(open_monitored(*runtime));
  ASSERT_NE(results, nullptr);
  ASSERT_TRUE(wic::launch(*stream, {kFaces, 64}, SendResults{*results->sender()}));
  const std::vector<wic::Tag> even{4, 0, 2}, odd{1, 3, 5};
  for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
    for (const auto& tags : {even, odd}) {
      float expected = 0;
      for (const wic::Tag tag : tags) {
        for (std::uint32_t i = 0; i < kCount; ++i) expected += number_of(tag, cycle, i);
      }
      const auto sum = add_all(*results, tags, cycle);
      if (sum) {
        EXPECT_EQ(*sum, expected) << "cycle " << cycle;
      } else {
        ADD_FAILURE() << sum.error().message;
      }
    }
  }
  synchronize();
  EXPECT_EQ(results->pending(), 0u);
}

std::string case_name(const testing::TestParamInfo<std::tuple<std::string, Mode>>& info) {
  const auto& [devices, mode] = info.param;
  return devices.substr(0, devices.find(':')) + (mode == Mode::poll ? "_poll" : "_park");
}
INSTANTIATE_TEST_SUITE_P(Documents, ChannelsExamples,
                         testing::Combine(testing::Values("simt:1", "cuda:0"), testing::Values(Mode::poll, Mode::park)),
                         case_name);

}  // namespace
