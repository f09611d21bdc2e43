// The control block between two processes: requests arrive, and applied states are reported back.
#include "protocol/control.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

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

  PartControl& join() {
    PartControl* runtime = join_session(*control_, control_, control_->sequence.load());
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
  PartControl& part = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  EXPECT_FALSE(wait_applied(*control_, sequence, 5 * kMillisecond));
  report_applied(*control_, part, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
}

TEST_F(ControlTest, LaterStatesCountAsApplied) {
  PartControl& part = join();
  const std::uint32_t first = request_wait(*control_, 0, {});
  const std::uint32_t second = request_wait(*control_, 0, {});
  report_applied(*control_, part, second);
  EXPECT_TRUE(wait_applied(*control_, first, 0));
}

TEST_F(ControlTest, SequencesMayWrap) {
  control_->sequence.store(0xffffffff);
  PartControl& part = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  EXPECT_EQ(sequence, 0u);
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  report_applied(*control_, part, sequence);
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

TEST_F(ControlTest, AppliedMeansAppliedByEveryPart) {
  PartControl& one = join();
  PartControl& two = join();
  EXPECT_EQ(attached_processes(*control_), 1u);
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  EXPECT_TRUE(wait_applied_by(*control_, one, sequence, 0));
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  report_applied(*control_, two, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
  EXPECT_EQ(last_effective(*control_), two.effective_ns.load());
}

TEST_F(ControlTest, DoesNotWaitForAPartThatLeft) {
  PartControl& one = join();
  PartControl& two = join();
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  std::thread leaves([&] { leave_session(*control_, two); });
  EXPECT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  leaves.join();
  leave_session(*control_, one);
  EXPECT_EQ(attached_processes(*control_), 0u);
  EXPECT_FALSE(wait_applied(*control_, sequence, 0));
}

TEST_F(ControlTest, DoesNotWaitForAProcessThatEnded) {
  PartControl& one = join();
  const pid_t child = fork();
  if (child == 0) {
    join();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(attached_processes(*control_), 2u);
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, one, sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, 0));
  PartControl& dead = control_->members[1].parts[0];
  const std::uint32_t gone = gone_owner(dead.owner, "", OwnerLook::quick);
  EXPECT_EQ(gone, static_cast<std::uint32_t>(child));
  drop_part(*control_, dead, gone);
  EXPECT_EQ(attached_processes(*control_), 1u);
}

TEST_F(ControlTest, AToggleIsNotAppliedWhileOnePartOfAProcessLags) {
  PartControl& hosts = join();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    report_applied(*control_, join(), control_->sequence.load() + 1);
    PartControl& lags = join();
    while (control_->sequence.load() != 2) sched_yield();
    report_applied(*control_, lags, 1);
    for (;;) pause();
  }
  const TimeNs end = now_ns() + 60 * kSecond;
  const MemberControl& other = control_->members[1];
  while (other.parts[1].owner.load() == 0 && now_ns() < end) sched_yield();
  EXPECT_EQ(attached_processes(*control_), 2u);
  const std::uint32_t sequence = request_wait(*control_, 0, {});
  report_applied(*control_, hosts, sequence);
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  EXPECT_EQ(first_without(*control_, sequence), static_cast<std::uint32_t>(child));
  request_wait(*control_, 0, {});
  EXPECT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(ControlTest, AProcessHasOnePlace) {
  std::vector<PartControl*> parts;
  for (std::uint32_t i = 0; i < kMaxParts; ++i) parts.push_back(&join());
  EXPECT_EQ(attached_processes(*control_), 1u);
  leave_session(*control_, *parts[3]);
  EXPECT_EQ(&join(), parts[3]);
  parts.push_back(&join());  // more parts than a place has room for
  EXPECT_EQ(parts.back(), &control_->members[1].parts[0]);
  for (PartControl* part : parts) leave_session(*control_, *part);
  EXPECT_EQ(attached_processes(*control_), 0u);
}

TEST_F(ControlTest, AFurtherProcessIsRefused) {
  constexpr std::uint64_t kNobodys = std::uint64_t{1} << 40 | 1;
  for (std::uint32_t i = 1; i < kMaxMembers; ++i) control_->members[i].state = kNobodys;
  join();
  const auto joins = [&] {
    const pid_t child = fork();
    if (child == 0) _exit(join_session(*control_, control_, 0) != nullptr ? 1 : 0);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 1;
  };
  EXPECT_FALSE(joins());
  EXPECT_EQ(attached_processes(*control_), kMaxMembers);
  control_->members[300].state = 0;
  EXPECT_TRUE(joins());
}

// The pid is the same, but not the program: what ran before exec has not let go of its place.
TEST_F(ControlTest, AnotherProgramOfTheProcessHasItsOwnPlace) {
  join();
  control_->members[0].state ^= std::uint64_t{0xff} << 8;
  join();
  EXPECT_EQ(attached_processes(*control_), 2u);
}

// Threads of several processes join and leave at the same time.
TEST_F(ControlTest, ConcurrentJoinsGetPlacesOfTheirOwn) {
  constexpr int kProcesses = 4, kThreads = 3, kTurns = 300;
  const auto take_turns = [this](std::atomic<bool>& good) {
    for (int i = 0; i < kTurns; ++i) {
      PartControl* const part = join_session(*control_, control_, 7);
      if (part == nullptr || part->owner.load() != static_cast<std::uint32_t>(getpid()) ||
          part->applied_sequence != 7) {
        good = false;
        return;
      }
      part->applied_sequence = 8;
      sched_yield();
      if (part->applied_sequence != 8) good = false;
      leave_session(*control_, *part);
    }
  };
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::atomic<bool> good{true};
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) threads.emplace_back([&] { take_turns(good); });
      for (std::thread& thread : threads) thread.join();
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const MemberControl& member : control_->members) {
    ASSERT_EQ(member.state, 0u);
    for (const PartControl& part : member.parts) ASSERT_EQ(part.owner.load(), 0u);
  }
}

TEST_F(ControlTest, RequestOverridesTheRuntimesOwnMode) {
  control_->own.store(WantedWait{Mode::park, StrategyId::backoff}.pack());
  EXPECT_EQ(program_wait(*control_).strategy, StrategyId::backoff);
  request_wait(*control_, 0, {Mode::poll, StrategyId::poll});
  EXPECT_EQ(program_wait(*control_).mode, Mode::poll);
}

// A minimal control thread of the program: applies each state that it sees, until backoff is requested.
void serve(ControlBlock* control, PartControl* runtime) {
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

TEST_F(ControlTest, AProcessThatIsJoiningHasAppliedNothing) {
  // join_session() between its two steps: the process is counted, and no part is held.
  MemberControl& member = control_->members[0];
  member.state.store((std::uint64_t{1} << 32) + 1);
  const std::uint32_t sequence = request_wait(*control_, 0, {Mode::park, StrategyId::backoff});
  EXPECT_EQ(attached_processes(*control_), 1u);
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  ASSERT_TRUE(member.parts[0].owner.claim(control_));
  EXPECT_FALSE(wait_applied(*control_, sequence, kMillisecond));
  report_applied(*control_, member.parts[0], sequence);
  EXPECT_TRUE(wait_applied(*control_, sequence, kSecond));
  member.parts[0].owner.give_back();
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
  while (attached_processes(*control_) == 0 && now_ns() < end) sched_yield();
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
