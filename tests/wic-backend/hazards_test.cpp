// Hazards outside of a wait's own protocol: a producer that is gone, blocks that do not fit, atomics that would lose
// the flag. On the CPU device and, if there is one, on a GPU.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/signal.h"
#include "wic/site.h"
#include "wic/wait.h"

namespace wic {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;
using wicprof::WaitStatus;

constexpr std::uint32_t kBlocks = 4;
constexpr std::uint32_t kThreads = 64;
constexpr std::uint64_t kTimeout = 20'000'000'000;

struct Waiter {
  DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  bool each_thread;
  std::uint32_t* started;   // pinned host memory, one line per block: the block is about to wait
  std::uint32_t* outcomes;  // pinned host memory, one per thread: 1 + status

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    if (thread.index() == 0) thread.store(&started[thread.block() * 32], 1);
    const WaitResult wait = wait_until(thread, view, group, site, 1, word, AtLeast{1}, kTimeout);
    thread.store(&outcomes[thread.block() * thread.block_size() + thread.index()],
                 1 + static_cast<std::uint32_t>(wait.status));
  }
};

class Hazards : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.devices = GetParam();
    options.mode = Mode::park;
    auto made = Runtime::create(options);
    if (!made) GTEST_SKIP() << made.error().message;
    runtime = *std::move(made);
    site = *runtime->add_site({"hazard.word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
    other = *runtime->add_site({"hazard.other", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
    stream = *device().make_stream();
    words = *Array<std::uint32_t>::make(device(), 64, Memory::pinned_host);
    started = *Array<std::uint32_t>::make(device(), kBlocks * 32, Memory::pinned_host);
    outcomes = *Array<std::uint32_t>::make(device(), kBlocks * kThreads, Memory::pinned_host);
  }
  Device& device() const { return runtime->device(0); }

  void start(bool each_thread = false) {
    for (std::size_t i = 0; i < started.size(); ++i) started[i] = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i] = 0;
    ASSERT_TRUE(launch(*stream, {kBlocks, kThreads},
                       Waiter{runtime->view(0), site, &words[0], each_thread, started.data(), outcomes.data()}));
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      while (std::atomic_ref(started[block * 32]).load() == 0) std::this_thread::yield();
    }
  }
  void expect_all(WaitStatus status) {
    const auto done = stream->synchronize();
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_EQ(outcomes[i], 1 + static_cast<std::uint32_t>(status)) << "thread " << i;
    }
  }

  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Stream> stream;
  wicprof::SiteId site = 0, other = 0;
  Array<std::uint32_t> words, started, outcomes;
};

TEST_P(Hazards, ALostProducerReleasesItsWaiters) {
  for (const wicprof::StrategyName& strategy : wicprof::kStrategies) {
    for (const bool each_thread : {false, true}) {
      SCOPED_TRACE(strategy.name);
      if (!runtime->set_wait(site, {Mode::park, strategy.id})) continue;  // refused here, see below
      start(each_thread);
      ASSERT_TRUE(runtime->release_waiters(site));
      expect_all(WaitStatus::producer_lost);
      start(each_thread);  // later waiters end the same way
      expect_all(WaitStatus::producer_lost);
      ASSERT_TRUE(runtime->readmit(site));
      start(each_thread);
      runtime->signal(site, 1, &words[0], 1);
      expect_all(WaitStatus::satisfied);
      words[0] = 0;
    }
  }
}

TEST_P(Hazards, AReadyWordIsTakenAfterTheProducerIsGone) {
  words[0] = 1;
  ASSERT_TRUE(runtime->release_waiters(site));
  start();
  expect_all(WaitStatus::satisfied);
}

TEST_P(Hazards, OtherSitesKeepWaiting) {
  start();
  ASSERT_TRUE(runtime->release_waiters(other));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  runtime->signal(site, 1, &words[0], 1);
  expect_all(WaitStatus::satisfied);
}

TEST_P(Hazards, AToggleDoesNotBringALostProducerBack) {
  ASSERT_TRUE(runtime->release_waiters(site));
  ASSERT_TRUE(runtime->set_wait(0, {Mode::poll, StrategyId::poll}));
  start();
  expect_all(WaitStatus::producer_lost);
}

TEST_P(Hazards, AHostWaitIsReleasedToo) {
  WaitResult wait{};
  std::thread waiter([&] { wait = runtime->wait_until(site, 1, &words[0], AtLeast{1}, 20 * wicprof::kSecond); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(runtime->release_waiters(0));
  waiter.join();
  EXPECT_EQ(wait.status, WaitStatus::producer_lost);
}

TEST_P(Hazards, AProducerProcessThatDiesReleasesItsWaiters) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  ASSERT_TRUE(runtime->watch_producer(site, child));
  start();
  kill(child, SIGKILL);
  expect_all(WaitStatus::producer_lost);
  waitpid(child, nullptr, 0);
  const auto again = runtime->watch_producer(site, child);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find(std::to_string(child)), std::string::npos);
}

struct Fill {
  std::uint32_t* at;
  WIC_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() == 0) thread.fetch_add(at, 1);
  }
};

TEST_P(Hazards, BlocksThatWaitForEachOtherMustFit) {
  auto count = *Array<std::uint32_t>::make(device(), 1, Memory::device);
  const Fill kernel{count.data()};
  const auto resident_limit = device().resident_blocks({1, 256}, kernel_ref(kernel));
  ASSERT_TRUE(resident_limit);
  ASSERT_TRUE(launch(*stream, {*resident_limit, 256, 0, true}, kernel));
  const auto refused = launch(*stream, {*resident_limit + 1, 256, 0, true}, kernel);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("deadlock"), std::string::npos);
  EXPECT_NE(refused.error().message.find(std::to_string(*resident_limit)), std::string::npos);
  ASSERT_TRUE(launch(*stream, {*resident_limit + 1, 256}, kernel));  // independent blocks run in waves
  ASSERT_TRUE(stream->synchronize());

  const PlannedLaunch half{{*resident_limit / 2, 256}, kernel_ref(kernel)};
  EXPECT_TRUE(check_co_resident(device(), std::array{half, half}));
  const PlannedLaunch more{{*resident_limit / 2 + 1, 256}, kernel_ref(kernel)};
  EXPECT_FALSE(check_co_resident(device(), std::array{half, more}));
}

TEST_P(Hazards, AtomicPollsOnHostMemoryAreRefusedWhereTheyLoseTheFlag) {
  const auto set = runtime->set_wait(site, {Mode::park, StrategyId::naive});
  if (device().properties().host_native_atomics) {
    EXPECT_TRUE(set);
    return;
  }
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find("hazard.word"), std::string::npos);
  EXPECT_NE(set.error().message.find("atomics"), std::string::npos);
  const auto managed = runtime->add_site({"hazard.managed", wicprof::WordMemory::managed});
  ASSERT_TRUE(managed);
  EXPECT_TRUE(runtime->set_wait(*managed, {Mode::park, StrategyId::naive}));
  // Requested for all sites, `naive` is replaced where it would lose flags.
  ASSERT_TRUE(runtime->set_wait(0, {Mode::park, StrategyId::naive}));
  EXPECT_EQ(runtime->strategy(*managed), StrategyId::naive);
  EXPECT_EQ(runtime->strategy(site), StrategyId::poll);
}

// Follows every change of the word: a futex for warps.
struct Watcher {
  DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  std::uint32_t changes;
  std::uint32_t* seen;  // pinned host memory, one line per block: the last value but one that the block saw

  WIC_DEVICE void operator()(const Thread& thread) const {
    std::uint32_t value = 0;
    while (value < changes) {
      const WaitResult wait = watch(thread, view, block_group(thread), site, value, word, value, kTimeout);
      if (wait.status != WaitStatus::satisfied) return;
      value = wait.value;
      if (thread.index() == 0) thread.store_release(&seen[thread.block() * 32], value);
      thread.sync_block();
    }
  }
};

struct WaitsTwice {
  Site set, unset;
  const std::uint32_t *word, *never;
  std::uint32_t* outcomes;  // as Waiter
  WIC_DEVICE void operator()(const Thread& thread) const {
    const WaitResult first = set.wait(thread, 1, word, AtLeast{1});
    const WaitResult second = unset.wait(thread, 1, never, AtLeast{1});
    const bool right = first && second.status == WaitStatus::deadline_passed;
    thread.store(&outcomes[thread.block() * thread.block_size() + thread.index()], right ? 2 : 1);
  }
};

TEST_P(Hazards, BlocksNeedNotBeWholeWarps) {
  for (const std::uint32_t threads : {1u, 31u, 33u, 48u}) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i] = 0;
    std::atomic_ref(words[0]).store(1, std::memory_order_release);
    ASSERT_TRUE(launch(*stream, {kBlocks, threads},
                       WaitsTwice{runtime->site(site, kTimeout, 0), runtime->site(other, 1'000'000, 0), &words[0],
                                  &words[32], outcomes.data()}));
    const auto done = stream->synchronize();
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < std::size_t{kBlocks} * threads; ++i) ASSERT_EQ(outcomes[i], 2u) << threads << ", " << i;
  }
}

TEST_P(Hazards, WatchParksUntilTheWordChanges) {
  constexpr std::uint32_t kChanges = 20;
  ASSERT_TRUE(runtime->set_wait(0, {Mode::park, StrategyId::shared_watch}));
  ASSERT_TRUE(
      launch(*stream, {kBlocks, kThreads}, Watcher{runtime->view(0), site, &words[0], kChanges, started.data()}));
  for (std::uint32_t change = 1; change <= kChanges; ++change) {
    runtime->signal(site, change, &words[0], change);
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      const wicprof::TimeNs end = wicprof::now_ns() + 20 * wicprof::kSecond;
      while (std::atomic_ref(started[block * 32]).load() < change) ASSERT_LT(wicprof::now_ns(), end);
    }
  }
  ASSERT_TRUE(stream->synchronize());
}

INSTANTIATE_TEST_SUITE_P(CpuDevice, Hazards, testing::Values("simt:1"), [](const auto&) { return "simt"; });
INSTANTIATE_TEST_SUITE_P(Gpu, Hazards, testing::Values("cuda:0"), [](const auto&) { return "cuda"; });

struct Broken {
  std::uint32_t* nowhere;
  WIC_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() == 0) *nowhere = 1;
  }
};

// The context is unusable afterwards, so this test needs its own process.
TEST(FailedGpu, ReleasesTheWaitersOfItsSites) {
  RuntimeOptions options;
  options.devices = "cuda:0";
  auto made = Runtime::create(options);
  if (!made) GTEST_SKIP() << made.error().message;
  Runtime& runtime = **made;
  SiteSpec spec{"failed.word", wicprof::WordMemory::pinned_host};
  spec.producer = runtime.device(0).properties().id;
  const auto site = runtime.add_site(spec);
  ASSERT_TRUE(site);
  auto word = *Array<std::uint32_t>::make(runtime.device(0), 1, Memory::pinned_host);
  auto stream = *runtime.device(0).make_stream();
  ASSERT_TRUE(launch(*stream, {1, 32}, Broken{nullptr}));
  const WaitResult wait = runtime.wait_until(*site, 1, word.data(), AtLeast{1}, 20 * wicprof::kSecond);
  EXPECT_EQ(wait.status, WaitStatus::producer_lost);
  EXPECT_FALSE(stream->synchronize());
}

}  // namespace
}  // namespace wic
