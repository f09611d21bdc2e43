// The control block between two processes: requests arrive, and applied states are reported back.
#include "protocol/control.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace wicprof {
namespace {

class ControlTest : public testing::Test {
 protected:
  ControlTest() {
    void* memory = mmap(nullptr, sizeof(ControlBlock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    control_ = new (memory) ControlBlock{};
  }
  ~ControlTest() override { munmap(control_, sizeof(ControlBlock)); }

  void add_site(const char* name) { ASSERT_NE(register_site(*control_, name), 0u); }

  RuntimeControl& join() {
    RuntimeControl* runtime = join_runtime(*control_, control_, control_->sequence.load());
    if (runtime == nullptr) std::abort();
    return *runtime;
  }

  ControlBlock* control_;
};

TEST_F(ControlTest, WantedWaitsSurvivePacking) {
  for (const StrategyName& strategy : kStrategies) {
    for (const Mode mode : {Mode::poll, Mode::park}) {
      const std::uint32_t word = WantedWait{mode, strategy.id}.pack();
      EXPECT_NE(word, WantedWait::kNothing);
      EXPECT_EQ(WantedWait::unpack(word).mode, mode);
      EXPECT_EQ(WantedWait::unpack(word).strategy, strategy.id);
    }
  }
}

TEST_F(ControlTest, FindsSitesByName) {
  EXPECT_EQ(find_site(*control_, "halo"), 0u);
  add_site("halo");
  add_site("flag");
  EXPECT_EQ(find_site(*control_, "halo"), 1u);
  EXPECT_EQ(find_site(*control_, "flag"), 2u);
  EXPECT_EQ(find_site(*control_, "fla"), 0u);
  EXPECT_EQ(find_site(*control_, ""), 0u);
  // A count beyond the table, as a broken program might write it.
  control_->site_count.store(0xffffffff);
  EXPECT_EQ(find_site(*control_, "none"), 0u);
}

TEST_F(ControlTest, ProgramRequestReplacesSiteRequests) {
  add_site("halo");
  const WantedWait park{Mode::park, StrategyId::backoff};
  EXPECT_EQ(request_wait(*control_, 1, park), 1u);
  EXPECT_EQ(control_->sites[1].wanted.load(), park.pack());
  EXPECT_EQ(control_->wanted.load(), WantedWait::kNothing);
  const WantedWait poll{Mode::poll, StrategyId::poll};
  EXPECT_EQ(request_wait(*control_, 0, poll), 2u);
  EXPECT_EQ(control_->wanted.load(), poll.pack());
  EXPECT_EQ(control_->sites[1].wanted.load(), WantedWait::kNothing);
  EXPECT_GT(control_->requested_ns.load(), 0);
}

TEST_F(ControlTest, WaitForAnUnappliedSequenceTimesOut) {
  RuntimeControl& runtime = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  EXPECT_FALSE(wait_applied(*control_, sequence, 5 * kMillisecond));
  report_applied(*control_, runtime, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
}

TEST_F(ControlTest, LaterStatesCountAsApplied) {
  RuntimeControl& runtime = join();
  const std::uint32_t first = request_wait(*control_, 0, {});
  const std::uint32_t second = request_wait(*control_, 0, {});
  report_applied(*control_, runtime, second);
  EXPECT_TRUE(wait_applied(*control_, first, 0));
}

TEST_F(ControlTest, SequencesMayWrap) {
  control_->sequence.store(0xffffffff);
  RuntimeControl& runtime = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  EXPECT_EQ(sequence, 0u);
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  report_applied(*control_, runtime, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
}

TEST_F(ControlTest, SitesWithOneNameAreOneSite) {
  EXPECT_EQ(register_site(*control_, "halo"), 1u);
  EXPECT_EQ(register_site(*control_, "flag"), 2u);
  EXPECT_EQ(register_site(*control_, "halo"), 1u);
  EXPECT_EQ(control_->site_count.load(), 2u);
}

TEST_F(ControlTest, FullSiteTableReturnsZero) {
  for (std::uint32_t site = 1; site < kMaxSites; ++site) {
    ASSERT_EQ(register_site(*control_, ("site " + std::to_string(site)).c_str()), site);
  }
  EXPECT_EQ(register_site(*control_, "one more"), 0u);
  EXPECT_EQ(register_site(*control_, "site 200"), 200u);
}

TEST_F(ControlTest, WriterThatDiesWhileNamingBlocksNobody) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  control_->sites[1].naming.store(static_cast<std::uint32_t>(child) << 1);
  EXPECT_EQ(register_site(*control_, "halo"), 1u);
  EXPECT_EQ(find_site(*control_, "halo"), 1u);
}

TEST_F(ControlTest, StoppedWriterKeepsItsSite) {
  control_->sites[1].naming.store(static_cast<std::uint32_t>(getppid()) << 1);  // runs, but never writes
  EXPECT_EQ(register_site(*control_, "halo"), 2u);
  EXPECT_EQ(find_site(*control_, "halo"), 2u);
}

// Two processes with two threads each name the same forty sites, each in a different order.
TEST_F(ControlTest, ConcurrentNamingSharesSites) {
  constexpr std::uint32_t kNames = 40;
  const auto name_all = [this](std::uint32_t first) {
    for (std::uint32_t i = 0; i < kNames; ++i) {
      if (register_site(*control_, ("site " + std::to_string((first + i) % kNames)).c_str()) == 0) return false;
    }
    return true;
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  std::atomic<bool> good{true};
  std::thread other([&] { good = good && name_all(child == 0 ? 10 : 20); });
  good = good && name_all(child == 0 ? 30 : 0);
  other.join();
  if (child == 0) _exit(good ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(good && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(control_->site_count.load(), kNames);
  for (std::uint32_t i = 0; i < kNames; ++i)
    EXPECT_NE(find_site(*control_, ("site " + std::to_string(i)).c_str()), 0u) << i;
}

TEST_F(ControlTest, AppliedMeansAppliedByEveryRuntime) {
  RuntimeControl& one = join();
  RuntimeControl& two = join();
  EXPECT_EQ(attached_runtimes(*control_), 2u);
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  EXPECT_TRUE(wait_applied_by(*control_, one, sequence, 0));
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  report_applied(*control_, two, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
  EXPECT_EQ(last_effective(*control_), two.effective_ns.load());
}

TEST_F(ControlTest, DoesNotWaitForARuntimeThatLeft) {
  RuntimeControl& one = join();
  RuntimeControl& two = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  std::thread leaves([&] { leave_runtime(*control_, two); });
  EXPECT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  leaves.join();
  leave_runtime(*control_, one);
  EXPECT_EQ(attached_runtimes(*control_), 0u);
  EXPECT_FALSE(wait_applied(*control_, sequence, 0));
}

TEST_F(ControlTest, DoesNotWaitForARuntimeWhoseProcessEnded) {
  RuntimeControl& one = join();
  const pid_t child = fork();
  if (child == 0) {
    join();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(attached_runtimes(*control_), 2u);
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
  RuntimeControl& dead = control_->runtimes[1];
  const std::uint32_t gone = gone_owner(dead.owner, "", OwnerLook::quick);
  EXPECT_EQ(gone, static_cast<std::uint32_t>(child));
  drop_runtime(*control_, dead, gone);
  EXPECT_EQ(attached_runtimes(*control_), 1u);
}

TEST_F(ControlTest, FullRuntimeTableReturnsNull) {
  for (std::uint32_t i = 0; i < kMaxRuntimes; ++i) join();
  EXPECT_EQ(join_runtime(*control_, control_, 0), nullptr);
}

TEST_F(ControlTest, RequestOverridesTheRuntimesOwnMode) {
  control_->own.store(WantedWait{Mode::park, StrategyId::backoff}.pack());
  EXPECT_EQ(program_wait(*control_).strategy, StrategyId::backoff);
  request_wait(*control_, 0, {Mode::poll, StrategyId::poll});
  EXPECT_EQ(program_wait(*control_).mode, Mode::poll);
}

// A minimal control thread of the program: applies each state that it sees, until backoff is requested.
void serve(ControlBlock* control, RuntimeControl* runtime) {
  std::uint32_t applied = 0;
  for (;;) {
    const std::uint32_t sequence = control->sequence.load(std::memory_order_acquire);
    if (sequence == applied) {
      futex_wait(control->sequence, sequence, 10 * kSecond);
      continue;
    }
    const WantedWait wanted = WantedWait::unpack(control->wanted.load(std::memory_order_relaxed));
    report_applied(*control, *runtime, sequence);
    applied = sequence;
    if (wanted.strategy == StrategyId::backoff) return;
  }
}

// The tool: makes a hundred requests, the last for backoff.
void ask(ControlBlock* control) {
  for (int i = 0; i < 100; ++i) {
    const StrategyId strategy = i == 99 ? StrategyId::backoff : StrategyId::predicted_sleep;
    const std::uint32_t sequence = request_wait(*control, 0, {Mode::park, strategy});
    ASSERT_TRUE(wait_applied(*control, sequence, 60 * kSecond)) << i;
    ASSERT_GE(last_effective(*control), control->requested_ns.load());
  }
}

TEST_F(ControlTest, RequestsAcrossThreads) {
  std::thread program([this, runtime = &join()] { serve(control_, runtime); });
  ask(control_);
  program.join();
}

TEST_F(ControlTest, RequestsAcrossProcesses) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(100);
    serve(control_, &join());
    _exit(0);
  }
  const TimeNs end = now_ns() + 60 * kSecond;
  while (attached_runtimes(*control_) == 0 && now_ns() < end) sched_yield();
  ask(control_);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Strategies, NamesRoundTrip) {
  for (const StrategyName& strategy : kStrategies) {
    EXPECT_EQ(strategy_from_name(strategy.name), strategy.id);
    EXPECT_EQ(strategy_name(strategy.id), strategy.name);
  }
  EXPECT_EQ(strategy_from_name("nonsense"), std::nullopt);
  EXPECT_EQ(strategy_name(static_cast<StrategyId>(77)), "unknown");
  EXPECT_EQ(mode_from_name("poll"), Mode::poll);
  EXPECT_EQ(mode_from_name("park"), Mode::park);
  EXPECT_EQ(mode_from_name("Park"), std::nullopt);
}

}  // namespace
}  // namespace wicprof
