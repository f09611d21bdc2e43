// Deliberate faults on either device: whatever producers and consumers do wrong, every wait ends with the right result.
// Skips missing devices by name.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <bit>
#include <numeric>
#include <thread>

#include "src/records/record_drain.h"
#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/signal.h"

namespace wic {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;
using wicprof::TimeNs;
using wicprof::WaitStatus;

constexpr std::uint32_t kBlocks = 6, kThreads = 64;
constexpr std::uint64_t kShort = 20'000'000, kLong = 20'000'000'000;
constexpr std::uint32_t kLine = 32;  // words
constexpr std::uint32_t kStop = 0x40000000;
constexpr StrategyId kEvery[] = {
    StrategyId::poll,         StrategyId::backoff,         StrategyId::predicted_sleep,     StrategyId::leader_bar_sync,
    StrategyId::shared_watch, StrategyId::leader_mbarrier, StrategyId::leader_mbarrier_hint};

// A block's line in pinned memory: counts of its waits by WaitStatus, and its other results.
enum Out : std::uint32_t { kSatisfied, kDeadline, kLost, kRound, kEarly, kSum };

struct Is {
  std::uint32_t wanted;
  WIC_DEVICE bool operator()(std::uint32_t value) const { return value == wanted; }
};

WIC_DEVICE inline void tell(const Thread& thread, std::uint32_t* out, std::uint32_t what, std::uint32_t value) {
  thread.store_release(&out[thread.block() * kLine + what], value);
}

// Each block waits once. Even blocks may have another deadline.
struct WaitsOnce {
  DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  std::uint32_t wanted;
  std::uint64_t timeout_ns, even_timeout_ns;
  bool each_thread;
  std::uint32_t* out;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    const std::uint64_t timeout = thread.block() % 2 == 0 ? even_timeout_ns : timeout_ns;
    const WaitResult wait = wait_until(thread, view, group, site, wanted, word, Is{wanted}, timeout);
    thread.sync_block();
    if (thread.index() == 0) tell(thread, out, static_cast<std::uint32_t>(wait.status), 1);
  }
};

// Waits round after round until the word is kStop; adds up the data of each round.
struct WaitsOn {
  DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  const std::uint32_t* data;
  bool each_thread;
  std::uint32_t* out;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = each_thread ? warps_group(0, thread.block_size() / kWarpSize, 1) : block_group(thread);
    std::uint32_t sum = 0, early = 0;
    for (std::uint32_t round = 1;; ++round) {
      const WaitResult wait = wait_until(thread, view, group, site, round, word, AtLeast{round}, kLong);
      if (wait.status != WaitStatus::satisfied || wait.value == kStop) break;
      const std::uint32_t brought = thread.load(data);
      early += brought != round * 7 ? 1 : 0;
      sum += brought;
      thread.sync_block();
      if (thread.index() == 0) {
        tell(thread, out, kSum, sum);
        tell(thread, out, kRound, round);
      }
    }
    if (early != 0) tell(thread, out, kEarly, early);
  }
};

struct Faulty {
  const char* device;
  StrategyId strategy;
  bool each_thread;
};

class Faults : public testing::TestWithParam<Faulty> {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.devices = GetParam().device;
    auto made = Runtime::create(options);
    if (!made) GTEST_SKIP() << GetParam().device << ": " << made.error().message;
    runtime = *std::move(made);
    const auto added =
        runtime->add_site({"faults.word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
    ASSERT_TRUE(added);
    site = *added;
    Device& device = runtime->device(0);
    stream = *device.make_stream();
    other_stream = *device.make_stream();
    words = *Array<std::uint32_t>::make(device, 2 * kLine, Memory::pinned_host);
    out = *Array<std::uint32_t>::make(device, std::size_t{kBlocks} * kLine, Memory::pinned_host);
    other_out = *Array<std::uint32_t>::make(device, std::size_t{kBlocks} * kLine, Memory::pinned_host);
    ASSERT_TRUE(runtime->set_wait(site, {Mode::park, GetParam().strategy}));
  }

  std::uint32_t* word() { return &words[0]; }
  std::uint32_t* data() { return &words[kLine]; }

  void wait_once(Stream& on, std::uint32_t* results, std::uint32_t wanted, std::uint64_t timeout,
                 std::uint64_t even_timeout) {
    for (std::size_t i = 0; i < std::size_t{kBlocks} * kLine; ++i) results[i] = 0;
    ASSERT_TRUE(launch(
        on, {kBlocks, kThreads},
        WaitsOnce{runtime->view(0), site, word(), wanted, timeout, even_timeout, GetParam().each_thread, results}));
  }
  static std::uint32_t told(std::uint32_t* results, std::uint32_t block, std::uint32_t what) {
    return std::atomic_ref(results[block * kLine + what]).load(std::memory_order_acquire);
  }
  static std::uint32_t total(std::uint32_t* results, std::uint32_t what) {
    std::uint32_t sum = 0;
    for (std::uint32_t block = 0; block < kBlocks; ++block) sum += told(results, block, what);
    return sum;
  }
  template <class Condition>
  static bool soon(const Condition& condition) {
    const TimeNs end = wicprof::now_ns() + 15 * wicprof::kSecond;
    while (!condition()) {
      if (wicprof::now_ns() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void expect_slots_free() {
    const DeviceView view = runtime->view(0);
    auto slots = Array<WatchSlot>::make(runtime->device(0), view.watch.slot_count, Memory::pinned_host);
    ASSERT_TRUE(slots);
    ASSERT_TRUE(stream->copy(slots->data(), view.watch.slots, slots->bytes()));
    ASSERT_TRUE(stream->synchronize());
    for (std::uint32_t i = 0; i < view.watch.slot_count; ++i) {
      EXPECT_EQ((*slots)[i].master >> 63, 0u) << "slot " << i << " still has a watcher";
      EXPECT_EQ((*slots)[i].key & 0x1ffff, 0u) << "slot " << i << " still counts a waiter";
    }
  }
  void expect_the_next_wait_works(std::uint32_t value) {
    wait_once(*stream, out.data(), value, kLong, kLong);
    runtime->signal(site, value, word(), value);
    ASSERT_TRUE(stream->synchronize());
    EXPECT_EQ(total(out.data(), kSatisfied), kBlocks);
    expect_slots_free();
  }

  std::unique_ptr<Runtime> runtime;
  wicprof::SiteId site = 0;
  std::unique_ptr<Stream> stream, other_stream;
  Array<std::uint32_t> words, out, other_out;
};

TEST_P(Faults, TheProducerNeverSignals) {
  wait_once(*stream, out.data(), 1, kShort, kShort);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kDeadline), kBlocks);
  expect_slots_free();
  expect_the_next_wait_works(1);
}

TEST_P(Faults, TheProducerSignalsTwice) {
  wait_once(*stream, out.data(), 1, kLong, kLong);
  runtime->signal(site, 1, word(), 1);
  runtime->signal(site, 1, word(), 1);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kSatisfied), kBlocks);
  // The second signal must not satisfy a wait for the next.
  wait_once(*stream, out.data(), 2, kShort, kShort);
  runtime->signal(site, 1, word(), 1);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kDeadline), kBlocks);
  expect_the_next_wait_works(2);
}

// Some wait for 2 throughout; a waiter that arrives after the word has gone back from 1 to 0 must not take the 1.
TEST_P(Faults, TheWordGoesBack) {
  wait_once(*stream, out.data(), 2, kLong, kLong);
  runtime->signal(site, 1, word(), 1);
  wait_once(*other_stream, other_out.data(), 1, kLong, kLong);
  ASSERT_TRUE(other_stream->synchronize());
  EXPECT_EQ(total(other_out.data(), kSatisfied), kBlocks);
  runtime->signal(site, 0, word(), 0);
  wait_once(*other_stream, other_out.data(), 1, kShort, kShort);
  ASSERT_TRUE(other_stream->synchronize());
  EXPECT_EQ(total(other_out.data(), kDeadline), kBlocks);
  runtime->signal(site, 2, word(), 2);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kSatisfied), kBlocks);
  expect_slots_free();
}

TEST_P(Faults, ConsumersLeaveEarly) {
  wait_once(*stream, out.data(), 1, kLong, kShort);
  const bool left = soon([&] { return total(out.data(), kDeadline) == kBlocks / 2; });
  runtime->signal(site, 1, word(), 1);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_TRUE(left);
  EXPECT_EQ(total(out.data(), kDeadline), kBlocks / 2);
  EXPECT_EQ(total(out.data(), kSatisfied), kBlocks / 2);
  expect_slots_free();
}

TEST_P(Faults, TheProducerIsGone) {
  wait_once(*stream, out.data(), 1, kLong, kLong);
  ASSERT_TRUE(runtime->release_waiters(site));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kLost), kBlocks);
  // Later waits end at once, unless the word is ready.
  wait_once(*stream, out.data(), 1, kLong, kLong);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kLost), kBlocks);
  runtime->signal(site, 1, word(), 1);
  wait_once(*stream, out.data(), 1, kLong, kLong);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(total(out.data(), kSatisfied), kBlocks);
  ASSERT_TRUE(runtime->readmit(site));
  expect_the_next_wait_works(2);
}

TEST_P(Faults, TheProducersProcessDies) {
  pid_t producer = 0;
  const char* const arguments[] = {"sleep", "60", nullptr};
  ASSERT_EQ(posix_spawnp(&producer, "sleep", nullptr, nullptr, const_cast<char* const*>(arguments), environ), 0);
  const auto watched = runtime->watch_producer(site, producer);
  wait_once(*stream, out.data(), 1, kLong, kLong);
  EXPECT_EQ(kill(producer, SIGKILL), 0);
  EXPECT_TRUE(stream->synchronize());
  waitpid(producer, nullptr, 0);
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_EQ(total(out.data(), kLost), kBlocks);
  expect_slots_free();
}

std::string faulty_name(const testing::TestParamInfo<Faulty>& faulty) {
  return std::string(faulty.param.device[0] == 's' ? "cpu_" : "gpu_") +
         std::string(wicprof::strategy_name(faulty.param.strategy)) +
         (faulty.param.each_thread ? "_each_thread" : "_leader");
}
std::vector<Faulty> every_strategy() {
  std::vector<Faulty> all;
  for (const char* device : {"simt:1", "cuda:0"}) {
    for (const StrategyId strategy : kEvery) {
      all.push_back({device, strategy, false});
      all.push_back({device, strategy, true});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(EveryWay, Faults, testing::ValuesIn(every_strategy()), faulty_name);

class FaultsOfTheBackend : public Faults {};

TEST_P(FaultsOfTheBackend, TogglesEveryMillisecondChangeNoResult) {
  for (std::size_t i = 0; i < std::size_t{kBlocks} * kLine; ++i) out[i] = 0;
  ASSERT_TRUE(launch(*stream, {kBlocks, kThreads},
                     WaitsOn{runtime->view(0), site, word(), data(), GetParam().each_thread, out.data()}));
  std::atomic<bool> ended{false};
  std::atomic<std::uint32_t> toggles{0};
  std::thread toggler([&] {
    while (!ended) {
      EXPECT_TRUE(runtime->set_wait(site, {Mode::park, kEvery[toggles++ % std::size(kEvery)]}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const TimeNs end = wicprof::now_ns() + 2 * wicprof::kSecond;
  std::uint32_t round = 0, sum = 0;
  bool all_came = true;
  while (all_came && wicprof::now_ns() < end) {
    ++round;
    sum += round * 7;
    std::atomic_ref(*data()).store(round * 7, std::memory_order_relaxed);
    std::atomic_ref(*word()).store(round, std::memory_order_release);
    all_came = soon([&] {
      for (std::uint32_t block = 0; block < kBlocks; ++block) {
        if (told(out.data(), block, kRound) < round) return false;
      }
      return true;
    });
  }
  std::atomic_ref(*word()).store(kStop, std::memory_order_release);
  ended = true;
  toggler.join();
  ASSERT_TRUE(stream->synchronize());
  EXPECT_TRUE(all_came) << "in round " << round;
  EXPECT_GT(toggles, 0u);
  EXPECT_GT(round, 0u);
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    EXPECT_EQ(told(out.data(), block, kRound), round);
    EXPECT_EQ(told(out.data(), block, kSum), sum);
  }
  EXPECT_EQ(total(out.data(), kEarly), 0u);
  expect_slots_free();
}

// Nobody drains: the rings overflow many times, and every lost record is counted. On a slow machine a wait may last
// longer than kFirstReportNs and write a report, too: at least one record per wait.
TEST_P(FaultsOfTheBackend, AFullRecordRingDelaysNobody) {
  constexpr std::uint32_t kCapacity = 4, kWaits = 10;
  Device& device = runtime->device(0);
  const std::uint32_t sms = device.properties().sm_count;
  auto records = Array<DeviceRecord>::make(device, std::size_t{sms} * kCapacity, Memory::pinned_host);
  auto heads = Array<RingHead>::make(device, sms, Memory::device);
  auto claimed = Array<RingHead>::make(device, sms, Memory::pinned_host);
  ASSERT_TRUE(records && heads && claimed);
  DeviceView view = runtime->view(0);
  view.records = records->data();
  view.ring_heads = heads->data();
  view.ring_capacity_log2 = std::countr_zero(kCapacity);
  view.record_sample_mask = 0;
  view.sm_count = sms;
  *word() = 1;
  for (std::uint32_t i = 0; i < kWaits; ++i) {
    ASSERT_TRUE(launch(*stream, {kBlocks, kThreads},
                       WaitsOnce{view, site, word(), 1, kLong, kLong, GetParam().each_thread, out.data()}));
  }
  ASSERT_TRUE(stream->copy(claimed->data(), heads->data(), claimed->bytes()));
  ASSERT_TRUE(stream->synchronize());
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t sm = 0; sm < sms; ++sm) numbers.push_back((*claimed)[sm].next);
  const std::uint64_t written = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  RecordDrain drain(records->data(), sms, kCapacity);
  std::uint64_t delivered = drain.drain([](const DeviceRecord&) {});
  drain.close(numbers);
  const std::uint64_t waits = std::uint64_t{kWaits} * kBlocks * (GetParam().each_thread ? kThreads / kWarpSize : 1);
  EXPECT_GE(written, waits);
  EXPECT_EQ(delivered + drain.lost(), written);
  EXPECT_LE(delivered, std::uint64_t{sms} * kCapacity);
  EXPECT_EQ(total(out.data(), kSatisfied), kBlocks);
}

std::vector<Faulty> both_groups() {
  std::vector<Faulty> all;
  for (const char* device : {"simt:1", "cuda:0"}) {
    all.push_back({device, StrategyId::shared_watch, false});
    all.push_back({device, StrategyId::shared_watch, true});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(BothGroups, FaultsOfTheBackend, testing::ValuesIn(both_groups()), faulty_name);

}  // namespace
}  // namespace wic
