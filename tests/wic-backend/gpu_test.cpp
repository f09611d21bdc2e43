// Every strategy on a real GPU: waits end with their data, deadlines are results, toggles during waits hang nothing.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/signal.h"
#include "wic/site.h"

namespace wic {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr StrategyId kEvery[] = {
    StrategyId::poll,         StrategyId::backoff,         StrategyId::predicted_sleep,     StrategyId::leader_bar_sync,
    StrategyId::shared_watch, StrategyId::leader_mbarrier, StrategyId::leader_mbarrier_hint};
constexpr std::uint32_t kBlocks = 64, kThreads = 128, kRounds = 200;

enum Count : std::uint32_t { kSatisfied, kTimedOut, kEarly, kCounts };

struct Waiter {
  DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  const std::uint32_t* data;
  std::uint32_t rounds;
  std::uint64_t timeout_ns;
  bool each_thread;
  std::uint32_t* counts;
  std::uint32_t* back;  // pinned: one line per block, the round that it has finished

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      const WaitResult wait = wait_until(thread, view, group, site, round, word, AtLeast{round}, timeout_ns);
      thread.fetch_add(&counts[wait.status == WaitStatus::satisfied ? kSatisfied : kTimedOut], 1);
      if (wait.status == WaitStatus::satisfied && thread.load(data) < round) thread.fetch_add(&counts[kEarly], 1);
      thread.sync_block();
      if (thread.index() == 0) thread.store_release(&back[thread.block() * 32], round);
      if (wait.status != WaitStatus::satisfied) return;
    }
  }
};

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.devices = "cuda:0";
    auto made = Runtime::create(options);
    if (!made) GTEST_SKIP() << "no GPU: " << made.error().message;
    runtime = *std::move(made);
    Device& device = runtime->device(0);
    site = *runtime->add_site({"gpu.word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
    stream = *device.make_stream();
    words = *Array<std::uint32_t>::make(device, 64, Memory::pinned_host);
    back = *Array<std::uint32_t>::make(device, std::size_t{kBlocks} * 32, Memory::pinned_host);
    counts = *Array<std::uint32_t>::make(device, kCounts, Memory::device);
    host_counts = *Array<std::uint32_t>::make(device, kCounts, Memory::pinned_host);
  }
  void start(StrategyId strategy, bool each_thread, std::uint32_t rounds, std::uint64_t timeout_ns) {
    ASSERT_TRUE(runtime->set_wait(0, {Mode::park, strategy}));
    ASSERT_TRUE(launch(*stream, {kBlocks, kThreads},
                       Waiter{runtime->view(0), site, &words[0], &words[32], rounds, timeout_ns, each_thread,
                              counts.data(), back.data()}));
  }
  // Releases round after round, each after every block has finished the one before.
  bool produce() {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      std::atomic_ref(words[32]).store(round, std::memory_order_relaxed);
      std::atomic_ref(words[0]).store(round, std::memory_order_release);
      for (std::uint32_t block = 0; block < kBlocks; ++block) {
        const wicprof::TimeNs end = wicprof::now_ns() + 5 * wicprof::kSecond;
        while (std::atomic_ref(back[block * 32]).load(std::memory_order_acquire) < round) {
          if (wicprof::now_ns() > end) return false;
        }
      }
    }
    return true;
  }
  void finish() {
    ASSERT_TRUE(stream->copy(host_counts.data(), counts.data(), counts.bytes()));
    const auto done = stream->synchronize();
    ASSERT_TRUE(done) << done.error().message;
  }

  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Stream> stream;
  wicprof::SiteId site = 0;
  Array<std::uint32_t> words, back, counts, host_counts;
};

struct BlockWaiter {
  Site site;
  const std::uint32_t* word;
  std::uint32_t* counts;
  WIC_DEVICE void operator()(const Thread& thread) const {
    thread.fetch_add(&counts[site.wait(thread, 1, word, AtLeast{1}) ? kSatisfied : kTimedOut], 1);
  }
};

TEST_F(OnGpu, ABlockOf1024ThreadsWaitsWithoutLaunchBounds) {
  std::atomic_ref(words[0]).store(1, std::memory_order_release);
  const auto launched =
      launch(*stream, {2, 1024}, BlockWaiter{{runtime->view(0), site, 1'000'000'000}, &words[0], counts.data()});
  ASSERT_TRUE(launched) << launched.error().message;
  finish();
  EXPECT_EQ(host_counts[kSatisfied], 2u * 1024u);
  EXPECT_EQ(host_counts[kTimedOut], 0u);
}

// A thread that has not used CUDA still has no context after calls of the backend, and one that has keeps its own.
TEST_F(OnGpu, CallsLeaveTheThreadsContextAsItWas) {
  using GetCurrent = int (*)(void**);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 11070, cudaEnableDefault, &found), cudaSuccess);
  const auto current = reinterpret_cast<GetCurrent>(entry);
  std::thread([&] {
    void* context = nullptr;
    ASSERT_EQ(current(&context), 0);
    ASSERT_EQ(context, nullptr);
    EXPECT_TRUE(runtime->set_wait(0, {Mode::park, StrategyId::poll}));
    {
      const auto memory = Array<std::uint32_t>::make(runtime->device(0), 64, Memory::device);
      EXPECT_TRUE(memory);
      const auto other = runtime->device(0).make_stream();
      EXPECT_TRUE(other);
      const auto event = runtime->device(0).make_event();
      EXPECT_TRUE(event);
      EXPECT_TRUE((*other)->record(**event));
      EXPECT_TRUE((*other)->synchronize());
    }
    ASSERT_EQ(current(&context), 0);
    EXPECT_EQ(context, nullptr);
  }).join();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  void *before = nullptr, *after = nullptr;
  ASSERT_EQ(current(&before), 0);
  EXPECT_TRUE(runtime->set_wait(0, {Mode::park, StrategyId::backoff}));
  ASSERT_EQ(current(&after), 0);
  EXPECT_EQ(before, after);
}

// Known to no function of wic.
__global__ void launched_by_the_program(std::uint32_t* word) { *word = 1; }

// With lazy loading, the first launch of a kernel that is not loaded waits for running kernels.
TEST_F(OnGpu, KernelsAreLoadedBeforeTheirFirstLaunch) {
  using IsLoaded = int (*)(int*, void*);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuFuncIsLoaded", &entry, 12040, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    GTEST_SKIP() << "this driver does not say whether a kernel is loaded";
  }
  for (const void* kernel :
       {kernel_ref(BlockWaiter{}).gpu_entry, reinterpret_cast<const void*>(&launched_by_the_program)}) {
    cudaFunction_t function = nullptr;
    ASSERT_EQ(cudaGetFuncBySymbol(&function, kernel), cudaSuccess);
    int state = 0;
    ASSERT_EQ(reinterpret_cast<IsLoaded>(entry)(&state, function), 0);
    EXPECT_EQ(state, 1);
  }
}

// A kernel of the program that ends only when this thread says so, after at most 10 s.
struct Persistent {
  const std::uint32_t* stop;
  std::uint32_t* started;
  WIC_DEVICE void operator()(const Thread& thread) const {
    const std::uint64_t deadline = thread.clock_ns() + 10'000'000'000;
    thread.store(started, 1);
    while (thread.load(stop) == 0 && thread.clock_ns() < deadline) thread.sleep_ns(1'000);
  }
};

TEST_F(OnGpu, NothingOfTheBackendWaitsForAKernelOfTheProgramWhenItEnds) {
  auto& device = runtime->device(0);
  auto flags = *Array<std::uint32_t>::make(device, 64, Memory::pinned_host);
  auto other = *Runtime::create({.devices = "cuda:0"});
  auto memory = Array<std::uint32_t>::make(device, 1000, Memory::device);
  auto bell = device.make_doorbell();
  ASSERT_TRUE(memory && bell);
  const void* released = memory->data();
  ASSERT_TRUE(launch(*stream, {1, 32}, Persistent{&flags[0], &flags[32]}));
  while (std::atomic_ref(flags[32]).load() == 0) std::this_thread::yield();
  const wicprof::TimeNs begin = wicprof::now_ns();
  (void)(*bell)->close();
  bell->reset();
  *memory = {};
  other.reset();
  EXPECT_LT(wicprof::now_ns() - begin, 5 * wicprof::kSecond) << "waited for the kernel's deadline";
  const auto again = Array<std::uint32_t>::make(device, 1000, Memory::device);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->data(), released) << "the memory is used again";
  EXPECT_LT(wicprof::now_ns() - begin, 5 * wicprof::kSecond) << "waited for the kernel's deadline";
  std::atomic_ref(flags[0]).store(1);
  ASSERT_TRUE(stream->synchronize());
}

TEST_F(OnGpu, DoorbellsAreAsManyAsQueues) {
  auto& device = runtime->device(0);
  std::vector<std::unique_ptr<Doorbell>> bells;
  std::string refusal;
  for (int i = 0; i < 40 && refusal.empty(); ++i) {
    auto bell = device.make_doorbell();
    if (bell) {
      bells.push_back(*std::move(bell));
    } else {
      refusal = bell.error().message;
    }
  }
  EXPECT_NE(refusal.find("CUDA_DEVICE_MAX_CONNECTIONS"), std::string::npos) << bells.size() << ": " << refusal;
  for (auto& bell : bells) EXPECT_TRUE(bell->close());
  bells.clear();
  EXPECT_TRUE(device.make_doorbell());
}

// The backend's own threads copy and query meanwhile: in the strictest mode, such calls of other threads end a capture.
TEST_F(OnGpu, TheBackendsThreadsDoNotEndAStreamCapture) {
  ASSERT_TRUE(runtime->set_wait(0, {Mode::park, StrategyId::automatic}));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  cudaStream_t captured = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaStreamDestroy(captured);
}

class EveryStrategyOnGpu : public OnGpu, public testing::WithParamInterface<std::tuple<StrategyId, bool>> {};

TEST_P(EveryStrategyOnGpu, EveryWaitEndsWithItsData) {
  start(std::get<0>(GetParam()), std::get<1>(GetParam()), kRounds, 5'000'000'000);
  EXPECT_TRUE(produce());
  finish();
  EXPECT_EQ(host_counts[kSatisfied], kBlocks * kThreads * kRounds);
  EXPECT_EQ(host_counts[kTimedOut], 0u);
  EXPECT_EQ(host_counts[kEarly], 0u);
}

TEST_P(EveryStrategyOnGpu, TogglesEveryMillisecondHangNothing) {
  start(std::get<0>(GetParam()), std::get<1>(GetParam()), kRounds, 5'000'000'000);
  std::atomic<bool> ended{false};
  std::thread toggler([&] {
    for (std::size_t i = 0; !ended; ++i) {
      EXPECT_TRUE(runtime->set_wait(0, {Mode::park, kEvery[i % std::size(kEvery)]}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(produce());
  ended = true;
  toggler.join();
  finish();
  EXPECT_EQ(host_counts[kSatisfied], kBlocks * kThreads * kRounds);
  EXPECT_EQ(host_counts[kEarly], 0u);
}

TEST_P(EveryStrategyOnGpu, ADeadlineIsAResult) {
  start(std::get<0>(GetParam()), std::get<1>(GetParam()), 1, 20'000'000);
  finish();
  EXPECT_EQ(host_counts[kTimedOut], kBlocks * kThreads);
  EXPECT_EQ(host_counts[kSatisfied], 0u);
}

// 64 blocks wait for at least 2 ms on one word in host memory that the site does not declare.
TEST_F(OnGpu, AutoWatchesASlowWordWithManyWaiters) {
  constexpr std::uint32_t kLongRounds = 600;
  site = *runtime->add_site({"gpu.plain", {}, {}, false});
  start(StrategyId::automatic, false, kLongRounds, 5'000'000'000);
  EXPECT_EQ(runtime->strategy(site), StrategyId::leader_bar_sync);
  for (std::uint32_t round = 1; round <= kLongRounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic_ref(words[32]).store(round, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(round, std::memory_order_release);
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      const wicprof::TimeNs end = wicprof::now_ns() + 5 * wicprof::kSecond;
      while (std::atomic_ref(back[block * 32]).load(std::memory_order_acquire) < round && wicprof::now_ns() < end) {
      }
    }
  }
  finish();
  EXPECT_EQ(host_counts[kSatisfied], kBlocks * kThreads * kLongRounds);
  EXPECT_EQ(host_counts[kEarly], 0u);
  EXPECT_EQ(runtime->strategy(site), StrategyId::shared_watch) << runtime->strategy_reason(site);
  EXPECT_NE(runtime->strategy_reason(site).find("64 wait at once"), std::string::npos)
      << runtime->strategy_reason(site);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyOnGpu, testing::Combine(testing::ValuesIn(kEvery), testing::Bool()),
                         [](const auto& info) {
                           return std::string(wicprof::strategy_name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "_each_thread" : "_leader");
                         });

}  // namespace
}  // namespace wic
