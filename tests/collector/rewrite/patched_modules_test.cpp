// Patched modules in the program: their memory, their contexts, and the thread that reads their waits.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "collector/rewrite/patched_modules.h"
#include "protocol/events/notice.h"
#include "protocol/events/site.h"
#include "protocol/events/wait_count.h"
#include "rewriter/patch/site.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

TEST_F(RewriteTest, ModulesGetTheirMemoryAndFollowTheSession) {
  ControlBlock control{};
  PatchedModules modules(&control);
  EXPECT_FALSE(modules.unbound(driver.context));
  const auto names = modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(modules.unbound(driver.context));
  const std::uint32_t number = find_site(control, names[0].c_str());
  EXPECT_NE(number, 0u);
  driver.context = nullptr;
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.table[0], 0u);  // without a context nothing happens
  driver.context = reinterpret_cast<CUcontext>(0x10);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_FALSE(modules.unbound(driver.context));
  ASSERT_EQ(driver.table[0], reinterpret_cast<std::uint64_t>(driver.memory.front().data()));
  auto* const words = reinterpret_cast<rewriter::SiteWords*>(driver.memory.front().data());
  EXPECT_EQ(words[0].control, 0u);

  request_wait(control, 0, {Mode::park, StrategyId::backoff});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, rewriter::kLongestPause);
  request_wait(control, number, {Mode::poll, StrategyId::poll});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, 0u);
  EXPECT_FALSE(modules.follow_session());

  modules.record(true);
  EXPECT_EQ(words[0].control, rewriter::kRecord);
  request_wait(control, number, {Mode::park, StrategyId::backoff});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, rewriter::kRecord | rewriter::kLongestPause);
  const Delivered delivered = ring_.read();
  ASSERT_EQ(delivered.all<SiteEvent>().size(), 1u);
  EXPECT_EQ(delivered.text(delivered.all<SiteEvent>()[0].name), names[0]);
  EXPECT_EQ(delivered.all<SiteEvent>()[0].site, PatchedModules::kFirstSite);
}

TEST_F(RewriteTest, LoadsAndUnloadsInALoopTakeNoMoreMemory) {
  PatchedModules modules(nullptr);
  std::size_t allocations = 0;
  for (int i = 0; i < 3; ++i) {
    auto* const library = reinterpret_cast<CUlibrary>(0x100 + i);
    EXPECT_EQ(modules.add(replacement, library, nullptr, sink_).size(), 1u);
    EXPECT_EQ(modules.bind(api, sink_), "");
    const auto* const ring = reinterpret_cast<const rewriter::Record*>(driver.table[1]);
    EXPECT_EQ(ring->check, 0u) << "records of the module before";
    const_cast<rewriter::Record*>(ring)->check = 1;
    if (i == 0) allocations = driver.memory.size();
    EXPECT_EQ(driver.memory.size(), allocations);
    modules.unloaded(library, nullptr);
    EXPECT_FALSE(modules.any() && modules.bind(api, sink_) != "");  // nothing of it is bound while it is unloaded
    modules.gone(library, nullptr, sink_);
  }
  EXPECT_EQ(modules.site_count(), 1u);
  EXPECT_EQ(ring_.read().all<SiteEvent>().size(), 1u);
  // Two of them at once have a ring each.
  modules.add(replacement, reinterpret_cast<CUlibrary>(0x200), nullptr, sink_);
  modules.add(replacement, reinterpret_cast<CUlibrary>(0x201), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.memory.size(), allocations + 1);
}

TEST_F(RewriteTest, EachSiteHasANameOfItsOwn) {
  ControlBlock control{};
  PatchedModules modules(&control);
  replacement.sites[0].name = "waits:7";
  replacement.sites.push_back(replacement.sites[0]);
  replacement.sites[1].name = "waits:7#2";
  using Names = std::vector<std::string>;
  EXPECT_EQ(modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(1), sink_), (Names{"waits:7", "waits:7#2"}));
  // The same code in another context, or loaded again.
  EXPECT_EQ(modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(2), sink_), (Names{"waits:7", "waits:7#2"}));
  replacement.table += "other";
  EXPECT_EQ(modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(3), sink_), (Names{"waits:7#3", "waits:7#4"}));
  EXPECT_NE(find_site(control, "waits:7"), find_site(control, "waits:7#2"));
}

TEST_F(RewriteTest, AModuleWithoutItsMemoryGoesOnPolling) {
  for (const char* step : {"alloc", "pointer", "stream", "global", "copy", "synchronize"}) {
    driver.failing = {step};
    driver.table[0] = 0;
    PatchedModules modules(nullptr);
    modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(1), sink_);
    EXPECT_NE(modules.bind(api, sink_), "") << step;
    const bool written = std::string(step) == "synchronize";  // the last step
    EXPECT_EQ(driver.table[0] != 0, written) << step;
    EXPECT_EQ(modules.bind(api, sink_), "") << step;  // a failure is named once
  }
}

TEST_F(RewriteTest, AContextThatComesAgainGetsMemoryOfItsOwn) {
  PatchedModules modules(nullptr);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  modules.context_ends(driver.context, sink_);
  driver.table[0] = 0;
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_NE(driver.table[0], 0u);
}

TEST_F(RewriteTest, AllContextsGetTheirMemoryBeforeOneLaunches) {
  auto* const first = driver.context;
  auto* const second = reinterpret_cast<CUcontext>(0x11);
  auto* const third = reinterpret_cast<CUcontext>(0x12);
  PatchedModules modules(nullptr);
  for (CUcontext context : {first, second}) modules.context_begins(context);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second}));
  EXPECT_FALSE(modules.unbound(first));
  EXPECT_TRUE(pushed_contexts.empty());
  // A module is in one context only.
  modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(1), sink_, second);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second, second}));
  modules.context_ends(second, sink_);
  modules.context_begins(third);
  EXPECT_TRUE(modules.unbound(first));
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second, second, third}));
}

// Loading there would wait for a host function that waits for the program.
TEST_F(RewriteTest, AContextThatMayWaitForTheProgramGetsItsMemoryAtItsOwnLaunch) {
  auto* const first = driver.context;
  auto* const second = reinterpret_cast<CUcontext>(0x11);
  PatchedModules modules(nullptr);
  for (CUcontext context : {first, second}) modules.context_begins(context);
  modules.may_wait(second);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, std::vector{first});
  EXPECT_FALSE(modules.unbound(first));
  EXPECT_TRUE(modules.unbound(second));
  driver.context = second;
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second}));
  driver.context = first;
}

TEST_F(RewriteTest, LaunchesThatAlternateContextsBindOnce) {
  auto* const second = reinterpret_cast<CUcontext>(0x11);
  PatchedModules modules(nullptr);
  for (CUcontext context : {driver.context, second}) modules.context_begins(context);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_TRUE(modules.unbound(driver.context));
  EXPECT_TRUE(modules.unbound(second));
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_FALSE(modules.unbound(driver.context));
  EXPECT_FALSE(modules.unbound(second));
  EXPECT_TRUE(modules.unbound(reinterpret_cast<CUcontext>(0x12)));
  modules.context_ends(second, sink_);
  EXPECT_TRUE(modules.unbound(second)) << "a context may come again under its number";
}

// A kernel that polls may make a call of the driver wait, until another thread launches what it polls for.
TEST_F(RewriteTest, ALaunchGoesOnWhileAnotherThreadBinds) {
  static std::atomic<bool> binds, launched;
  binds = launched = false;
  RewriteDriver waiting = api;
  waiting.synchronize = [](CUstream) {
    binds = true;
    for (const TimeNs until = now_ns() + 20'000 * kMillisecond; !launched;) {
      if (now_ns() > until) return CUDA_ERROR_LAUNCH_TIMEOUT;
      std::this_thread::yield();
    }
    return CUDA_SUCCESS;
  };
  PatchedModules modules(nullptr);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  std::string problem = "not bound";
  std::thread binding([&] { problem = modules.bind(waiting, sink_); });
  while (!binds) std::this_thread::yield();
  EXPECT_EQ(modules.bind(waiting, sink_), "");
  launched = true;
  binding.join();
  EXPECT_EQ(problem, "");
  EXPECT_FALSE(modules.unbound(driver.context));
}

/// A module with counts in the device's memory.
class CountsTest : public RewriteTest {
 protected:
  static constexpr TimeNs kPatience = kMillisecond;

  CountsTest() { driver.table_bytes = layout().bytes(); }

  rewriter::Table layout() const { return {replacement.table, replacement.sites.size()}; }
  /// Those of one slot of the first site.
  rewriter::SiteCounts& slot(std::uint32_t number) {
    return reinterpret_cast<rewriter::SiteCounts*>(reinterpret_cast<char*>(driver.table) + layout().counts(0))[number];
  }
  std::vector<WaitCountEvent> read(PatchedModules& modules) {
    modules.read_counts(api, sink_, kPatience);
    return ring_.read().all<WaitCountEvent>();
  }
};

TEST_F(CountsTest, WritesWhatHasComeSinceTheLastTime) {
  ASSERT_LE(driver.table_bytes, sizeof driver.table);
  PatchedModules modules(nullptr);
  modules.record(true);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_TRUE(read(modules).empty());
  slot(0) = {1, 3, 2, 9, 900, {}};
  slot(7) = {4, 1, 1, 2, 100, {}};
  std::vector<WaitCountEvent> events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].site, PatchedModules::kFirstSite);
  EXPECT_EQ(events[0].waits, 5 + 4 * std::int64_t{rewriter::kSampleOneIn});
  EXPECT_EQ(events[0].looked, 5u);
  EXPECT_EQ(events[0].sampled, 4);
  EXPECT_EQ(events[0].sampled_squares, 10u);
  EXPECT_EQ(events[0].timed, 3u);
  EXPECT_EQ(events[0].timed_rounds, 11u);
  EXPECT_EQ(events[0].timed_ns, 1000u);
  EXPECT_EQ(events[0].one_in, rewriter::kSampleOneIn);
  EXPECT_LE(events[0].begin_ns, events[0].end_ns);
  const TimeNs end = events[0].end_ns;
  EXPECT_TRUE(read(modules).empty());
  slot(7).looked += 2;  // and none is sampled
  events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 2);
  EXPECT_EQ(events[0].timed_ns, 0u);
  EXPECT_GE(events[0].begin_ns, end);
  // Two waits that were counted have lasted until their first look; one of them came before the last copy.
  slot(0).sampled -= 1;
  slot(7).looked += 2;
  events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].sampled, -1);
  EXPECT_EQ(events[0].sampled_squares, 1u);
  EXPECT_EQ(events[0].waits, 2 - std::int64_t{rewriter::kSampleOneIn});
}

TEST_F(CountsTest, WaitsWithoutKnownEndsAreInTheSampleWhateverTheirLength) {
  for (rewriter::LoadedSite& each : replacement.sites) each.ends_known = false;
  PatchedModules modules(nullptr);
  modules.record(true);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  slot(0) = {5, 3, 0, 0, 0, {}};
  slot(7).looked = 4;
  std::vector<WaitCountEvent> events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 3 * std::int64_t{rewriter::kSampleOneIn});
  EXPECT_EQ(events[0].looked, 9u);
  slot(7).looked += 1;
  events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 0u);
  EXPECT_EQ(events[0].looked, 1u);
}

TEST_F(CountsTest, LeavesOutWhatCameWhileNothingWasRecorded) {
  PatchedModules modules(nullptr);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  slot(1).looked = 100;
  EXPECT_FALSE(modules.counts_are_due());
  modules.record(true);
  EXPECT_TRUE(modules.counts_are_due());
  EXPECT_TRUE(read(modules).empty());
  EXPECT_FALSE(modules.counts_are_due());
  slot(1).looked = 120;
  modules.record(false);
  EXPECT_TRUE(modules.counts_are_due());
  const std::vector<WaitCountEvent> events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 20u);
  slot(1).looked = 150;
  EXPECT_TRUE(read(modules).empty());
}

TEST_F(CountsTest, NobodyWaitsForACopyThatIsLate) {
  PatchedModules modules(nullptr);
  modules.record(true);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  slot(0).looked = 3;
  driver.copies_arrive = false;
  EXPECT_TRUE(read(modules).empty());
  EXPECT_TRUE(read(modules).empty());
  driver.copies_arrive = true;
  EXPECT_TRUE(read(modules).empty());  // the late copy is not the newest one
  slot(0).looked = 4;
  std::vector<WaitCountEvent> events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 4u);
  for (const char* step : {"copy_to_host", "query"}) {
    ++slot(0).looked;
    driver.failing = {step};
    EXPECT_TRUE(read(modules).empty()) << step;
    driver.failing = {};
    events = read(modules);
    ASSERT_EQ(events.size(), 1u) << step;
    EXPECT_EQ(events[0].waits, 1u) << step;
  }
  EXPECT_TRUE(pushed_contexts.empty());
}

TEST_F(CountsTest, AModuleThatIsLoadedAgainCountsAnew) {
  PatchedModules modules(nullptr);
  modules.record(true);
  auto* const library = reinterpret_cast<CUlibrary>(1);
  modules.add(replacement, library, nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  slot(0).looked = 7;
  EXPECT_EQ(read(modules).size(), 1u);
  modules.unloaded(library, nullptr);
  modules.gone(library, nullptr, sink_);
  slot(0).looked = 2;
  EXPECT_TRUE(read(modules).empty());
  modules.add(replacement, library, nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  const std::vector<WaitCountEvent> events = read(modules);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].waits, 2);
}

TEST_F(CountsTest, ATableThatIsTooSmallHasNoCounts) {
  driver.table_bytes = layout().counts(0);
  PatchedModules modules(nullptr);
  modules.record(true);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  slot(0).looked = 7;
  EXPECT_TRUE(read(modules).empty());
}

// Rounds of the thread that reads the waits and takes readings of the clock.
std::atomic<int> rounds{0};

TEST_F(RewriteTest, ReadingGoesOnWhileTheDriverMakesAModuleWait) {
  // The driver may wait for the clock's kernel, which waits for its reading.
  RewriteDriver waiting = api;
  waiting.synchronize = [](CUstream) {
    const TimeNs until = now_ns() + 20'000 * kMillisecond;
    const int before = rounds;
    while (rounds < before + 3) {
      if (now_ns() > until) return CUDA_ERROR_LAUNCH_TIMEOUT;
      std::this_thread::yield();
    }
    return CUDA_SUCCESS;
  };
  ControlBlock control{};
  PatchedModules modules(&control);
  std::atomic<bool> ends{false};
  std::thread thread([&] {
    while (!ends) {
      modules.take_clocks(sink_);
      modules.request_clocks(waiting);
      modules.follow_session();
      modules.read_waits(sink_);
      modules.look_at_words(&waiting, sink_);
      modules.read_counts(waiting, sink_, kMillisecond);
      ++rounds;
    }
  });
  for (const std::uintptr_t library : {1, 2}) {
    modules.add(replacement, reinterpret_cast<CUlibrary>(library), nullptr, sink_);
    EXPECT_EQ(modules.bind(waiting, sink_), "");
    EXPECT_FALSE(modules.unbound(driver.context));
  }
  // Nor does it meet what is being taken away.
  modules.unloaded(reinterpret_cast<CUlibrary>(1), nullptr);
  modules.context_ends(driver.context, sink_);
  EXPECT_EQ(modules.bind(waiting, sink_), "");
  ends = true;
  thread.join();
}

}  // namespace
}  // namespace wicprof::collector
