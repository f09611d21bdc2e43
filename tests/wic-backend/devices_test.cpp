// The CPU device through the host interface, and the specs that open_devices() accepts.
#include <gtest/gtest.h>

#include "tests/thread_sanitizer.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace wic {
namespace {

std::unique_ptr<Device> cpu_device() {
  auto devices = open_devices("simt:1");
  EXPECT_TRUE(devices);
  return std::move((*devices)[0]);
}

TEST(OpenDevices, CountsCpuDevices) {
  const auto devices = open_devices("simt:3");
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 3u);
  EXPECT_EQ((*devices)[2]->properties().id, wicprof::simt_device(2));
}

TEST(OpenDevices, SaysWhatIsWrong) {
  for (const char* spec :
       {"", "simt", "simt:", "simt:0", "simt:x", "simt:99", "gpu:0", "cuda:", "cuda:0,simt:1", "cuda:0,"}) {
    const auto devices = open_devices(spec);
    ASSERT_FALSE(devices) << spec;
    EXPECT_EQ(devices.error().kind, wicprof::ErrorKind::bad_input) << spec;
    EXPECT_NE(devices.error().message.find(spec), std::string::npos) << spec;
  }
}

struct AddBlocks {
  std::uint32_t* sum;
  WIC_DEVICE void operator()(const Thread& thread) const {
    auto* shared = static_cast<std::uint32_t*>(thread.shared());
    shared[thread.index()] = thread.block();
    thread.sync_block();
    if (thread.index() != 0) return;
    std::uint32_t total = 0;
    for (std::uint32_t i = 0; i < thread.block_size(); ++i) total += shared[i];
    thread.fetch_add(sum, total);
  }
};

constexpr std::uint32_t kThreads = wicprof::kThreadSanitizer ? 8 : 64;

TEST(CpuDevice, RunsMoreBlocksThanItHolds) {
  const auto device = cpu_device();
  auto stream = device->make_stream();
  auto sum = Array<std::uint32_t>::make(*device, 1, Memory::device);
  ASSERT_TRUE(stream && sum);
  const std::uint32_t blocks = device->properties().sm_count * 32 + 12;  // an SM holds 32 at most
  ASSERT_TRUE(launch(**stream, {blocks, kThreads, kThreads * 4}, AddBlocks{sum->data()}));
  ASSERT_TRUE((*stream)->synchronize());
  EXPECT_EQ(*sum->data(), kThreads * blocks * (blocks - 1) / 2);
}

TEST(CpuDevice, AStreamKeepsItsOrder) {
  const auto device = cpu_device();
  auto stream = device->make_stream();
  auto sum = Array<std::uint32_t>::make(*device, 1, Memory::device);
  auto copies = Array<std::uint32_t>::make(*device, 20, Memory::pinned_host);
  auto begin = device->make_event();
  auto end = device->make_event();
  ASSERT_TRUE(stream && sum && copies && begin && end);
  ASSERT_TRUE((*stream)->record(**begin));
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(launch(**stream, {4, kThreads, kThreads * 4}, AddBlocks{sum->data()}));
    ASSERT_TRUE((*stream)->copy(&(*copies)[i], sum->data(), 4));
  }
  ASSERT_TRUE((*stream)->record(**end));
  ASSERT_TRUE((*stream)->synchronize());
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ((*copies)[i], (i + 1) * kThreads * 6);
  EXPECT_GT(*(*end)->ns_since(**begin), 0);
}

struct PingPong {
  std::uint32_t* mine;
  std::uint32_t* other;
  std::uint32_t rounds;
  WIC_DEVICE void operator()(const Thread& thread) const {
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      thread.store_release(other, i);
      const std::uint64_t deadline = thread.clock_ns() + 10'000'000'000;
      while (thread.load(mine) < i && thread.clock_ns() < deadline) {
      }
    }
  }
};

TEST(CpuDevice, KernelsOnTwoStreamsRunAtOnce) {
  const auto device = cpu_device();
  auto a = device->make_stream();
  auto b = device->make_stream();
  auto words = Array<std::uint32_t>::make(*device, 64, Memory::device);
  ASSERT_TRUE(a && b && words);
  ASSERT_TRUE(launch(**a, {1, 1}, PingPong{words->data(), words->data() + 32, 100}));
  ASSERT_TRUE(launch(**b, {1, 1}, PingPong{words->data() + 32, words->data(), 100}));
  ASSERT_TRUE((*a)->synchronize());
  ASSERT_TRUE((*b)->synchronize());
  EXPECT_EQ(words->data()[0], 100u);
  EXPECT_EQ(words->data()[32], 100u);
}

TEST(CpuDevice, RefusesInvalidShapes) {
  const auto device = cpu_device();
  auto stream = device->make_stream();
  ASSERT_TRUE(stream);
  EXPECT_FALSE(launch(**stream, {0, 32}, AddBlocks{nullptr}));
  EXPECT_FALSE(launch(**stream, {1, 1025}, AddBlocks{nullptr}));
}

TEST(CpuDevice, ReportsHowManyBlocksItHolds) {
  const auto device = cpu_device();
  const auto small = device->resident_blocks({1, 64}, kernel_ref(AddBlocks{}));
  const auto large = device->resident_blocks({1, 1024}, kernel_ref(AddBlocks{}));
  ASSERT_TRUE(small && large);
  EXPECT_EQ(*small, 32 * device->properties().sm_count);
  EXPECT_EQ(*large, 2 * device->properties().sm_count);
}

}  // namespace
}  // namespace wic
