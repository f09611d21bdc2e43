// What an existing program brings along: C++17, counters of 64 bits, and on a GPU plain kernels, streams and contexts
// of its own. Compiled as C++17.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "wic/channel.h"
#include "wic/launch.h"
#include "wic/runtime.h"

#if WIC_CUDA_COMPILER
#include <cuda.h>

#include "docs/examples/waiting/existing.h"
#endif

static_assert(__cplusplus < 202002L, "this test is about C++17");

namespace {

using wic::Array;
using wic::Memory;

constexpr std::uint32_t kBlocks = 4, kThreads = 64;
constexpr std::uint64_t kStart = (std::uint64_t{7} << 32) + 0xfffffffe;  // the lower half wraps after two steps

/// Blocks count up one after another: block b waits for kStart + b, and announces the next number.
struct CountsUp {
  wic::Site site;
  std::uint64_t* counter;
  std::uint32_t* done;  // by thread
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t mine = kStart + thread.block();
    const bool right = static_cast<bool>(site.wait(thread, thread.block(), counter, wic::AtLeast64{mine}));
    thread.store(&done[thread.block() * thread.block_size() + thread.index()], right ? 2 : 1);
    thread.sync_block();
    if (thread.index() == 0) site.signal(thread, thread.block(), counter, mine + 1);
  }
};

class Adoption : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    wic::RuntimeOptions options;
    options.devices = GetParam();
    options.mode = wic::Mode::park;
    auto made = wic::Runtime::create(options);
    if (!made) GTEST_SKIP() << made.error().message;
    runtime = *std::move(made);
    wic::SiteSpec spec;
    spec.name = "existing";
    spec.word_memory = wic::WordMemory::pinned_host;
    site = *runtime->add_site(spec);
    counter = *Array<std::uint64_t>::make(runtime->device(0), 16, Memory::pinned_host);
  }
  std::unique_ptr<wic::Runtime> runtime;
  wic::SiteId site = 0;
  Array<std::uint64_t> counter;
};

TEST_P(Adoption, CountersMayHave64Bits) {
  auto& device = runtime->device(0);
  auto stream = *device.make_stream();
  auto done = *Array<std::uint32_t>::make(device, kBlocks * kThreads, Memory::pinned_host);
  counter[0] = kStart - 3;
  ASSERT_TRUE(wic::launch(*stream, {kBlocks, kThreads},
                          CountsUp{runtime->site(site, 10'000'000'000), &counter[0], done.data()}));
  runtime->signal(site, 0, &counter[0], kStart);
  const auto waited = runtime->wait_until(site, 9, &counter[0], wic::AtLeast64{kStart + kBlocks}, 10 * wic::kSecond);
  EXPECT_TRUE(waited);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(counter[0], kStart + kBlocks);
  for (std::uint32_t i = 0; i < kBlocks * kThreads; ++i) ASSERT_EQ(done[i], 2u) << i;
  const auto missed = runtime->wait_until(site, 10, &counter[0], wic::AtLeast64{kStart + 5}, wic::kMillisecond);
  EXPECT_EQ(missed.status, wic::WaitStatus::deadline_passed);
}

TEST_P(Adoption, TheCpuDeviceHasNoStreamsOfTheProgram) {
  if (std::string(GetParam()) != "simt:1") GTEST_SKIP() << "of the CPU device";
  const auto refused = runtime->device(0).use_stream(nullptr);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("make_stream"), std::string::npos) << refused.error().message;
}

INSTANTIATE_TEST_SUITE_P(CpuDevice, Adoption, testing::Values("simt:1"), [](const auto&) { return "simt"; });

#if WIC_CUDA_COMPILER
INSTANTIATE_TEST_SUITE_P(Gpu, Adoption, testing::Values("cuda:0"), [](const auto&) { return "cuda"; });

void expect_doubled(wic::Runtime& runtime, cudaStream_t stream) {
  wic::SiteSpec spec;
  spec.name = "plain";
  spec.word_memory = wic::WordMemory::pinned_host;
  const auto site = runtime.add_site(spec);
  ASSERT_TRUE(site);
  auto& device = runtime.device(0);
  auto counter = *Array<std::uint64_t>::make(device, 16, Memory::pinned_host);
  auto data = *Array<float>::make(device, kBlocks * kThreads, Memory::pinned_host);
  auto out = *Array<float>::make(device, kBlocks * kThreads, Memory::pinned_host);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto ran = run(runtime, *site, stream, &counter[0], round, data.data(), out.data());
    ASSERT_TRUE(ran) << ran.error().message;
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(out[i], 2 * data[i]);
    for (std::size_t i = 0; i < data.size(); ++i) out[i] = -1;
  }
}

std::unique_ptr<wic::Runtime> gpu_runtime() {
  wic::RuntimeOptions options;
  options.devices = "cuda:0";
  auto made = wic::Runtime::create(options);
  return made ? *std::move(made) : nullptr;
}

TEST(AdoptionOnGpu, PlainKernelsWaitOnStreamsOfTheProgram) {
  const auto runtime = gpu_runtime();
  if (runtime == nullptr) GTEST_SKIP() << "no GPU";
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  expect_doubled(*runtime, stream);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess) << "the stream is still there";
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// In a process of its own: other tests use the runtime library's context.
TEST(AdoptionOnGpuDeathTest, TheRuntimeUsesTheThreadsOwnContext) {
  if (gpu_runtime() == nullptr) GTEST_SKIP() << "no GPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_own_context = [] {
    using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
    using Current = CUresult (*)(CUcontext*);
    void *create = nullptr, *current = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion("cuCtxCreate", &create, 3020, cudaEnableDefault, &found) != cudaSuccess ||
        cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &current, 4000, cudaEnableDefault, &found) != cudaSuccess ||
        create == nullptr || current == nullptr) {
      std::_Exit(1);
    }
    CUcontext own = nullptr, after = nullptr;
    if (reinterpret_cast<Create>(create)(&own, 0, 0) != CUDA_SUCCESS) std::_Exit(2);
    {
      const auto runtime = gpu_runtime();
      if (runtime == nullptr) std::_Exit(3);
      cudaStream_t stream = nullptr;  // of the current context
      if (cudaStreamCreate(&stream) != cudaSuccess) std::_Exit(4);
      expect_doubled(*runtime, stream);
      cudaStreamDestroy(stream);
    }
    reinterpret_cast<Current>(current)(&after);
    std::_Exit(testing::Test::HasFailure() ? 5 : after == own ? 0 : 6);
  };
  EXPECT_EXIT(in_own_context(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
