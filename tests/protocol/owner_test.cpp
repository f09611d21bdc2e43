// When the tool may take back a part of a session: after its holder ended, ran exec or let go, and never while the
// holder can still use the part.
#include "protocol/owner.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/events/wait.h"
#include "protocol/session.h"
#include "tests/protocol/runtime_folder.h"

namespace wicprof {
namespace {

SessionOptions options(std::size_t rings) {
  SessionOptions o;
  o.name = "owners";
  o.app = "test";
  o.rings[0] = {rings, 2 * kMaxEventSize};
  return o;
}

class OwnerTest : public testing::Test {
 protected:
  void make(std::size_t rings) {
    Result<SessionOwner> made = SessionOwner::create(options(rings));
    ASSERT_TRUE(made) << made.error().message;
    session.emplace(*std::move(made));
  }
  const Owner& owner(std::size_t ring) const { return session->map().ring(ring)->owner; }
  std::uint32_t gone(std::size_t ring, OwnerLook look = OwnerLook::thorough) const {
    return gone_owner(owner(ring), session->path(), look);
  }

  // Starts a child that claims a ring and then runs `rest`; returns after the claim. The caller kills it.
  template <class Rest>
  pid_t claiming_child(Rest&& rest) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      Result<SessionMap> map = SessionMap::attach(session->path());
      if (!map || map->claim_ring() == nullptr) _exit(1);
      rest(*map);
      for (;;) pause();
    }
    const TimeNs end = now_ns() + 60 * kSecond;
    while (owner(0).mapping.load() == 0 && now_ns() < end) sched_yield();
    return child;
  }
  static void end(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  // Polls for up to a minute, because it depends on another process.
  bool comes_to_be_gone() const {
    const TimeNs end = now_ns() + 60 * kSecond;
    while (gone(0) == 0 && now_ns() < end) sched_yield();
    return gone(0) != 0;
  }

  RuntimeFolder folder;
  std::optional<SessionOwner> session;
};

TEST_F(OwnerTest, FreePartHasNoGoneOwner) {
  make(1);
  EXPECT_EQ(gone(0), 0u);
}

TEST_F(OwnerTest, OnlyAKilledProcessIsGone) {
  make(1);
  const pid_t child = claiming_child([](SessionMap&) {});
  EXPECT_EQ(owner(0).load(), static_cast<std::uint32_t>(child));
  EXPECT_EQ(gone(0, OwnerLook::quick), 0u);
  EXPECT_EQ(gone(0), 0u);
  end(child);
  EXPECT_EQ(gone(0, OwnerLook::quick), static_cast<std::uint32_t>(child));
}

TEST_F(OwnerTest, ZombieIsGone) {
  make(1);
  const pid_t child = claiming_child([](SessionMap&) {});
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_NE(gone(0), 0u);
  waitpid(child, nullptr, 0);
}

TEST_F(OwnerTest, ProcessThatRanExecIsGone) {
  make(1);
  const pid_t child = claiming_child([](SessionMap&) { execlp("sleep", "sleep", "100", nullptr); });
  EXPECT_TRUE(comes_to_be_gone());
  EXPECT_EQ(kill(child, 0), 0);
  EXPECT_EQ(gone(0, OwnerLook::quick), 0u);  // only a thorough check finds this
  end(child);
}

TEST_F(OwnerTest, OwnerThatLetGoIsGone) {
  make(2);
  {
    const Result<SessionMap> map = SessionMap::attach(session->path());
    ASSERT_TRUE(map);
    ASSERT_NE(map->claim_ring(), nullptr);
    EXPECT_EQ(gone(0), 0u);
  }
  EXPECT_EQ(gone(0, OwnerLook::quick), static_cast<std::uint32_t>(getpid()));
}

TEST_F(OwnerTest, UnrelatedMappingLetsGoOfNothing) {
  make(1);
  const Result<SessionMap> map = SessionMap::attach(session->path());
  ASSERT_NE(map->claim_ring(), nullptr);
  { const Result<SessionMap> other = SessionMap::attach(session->path()); }
  EXPECT_FALSE(SessionMap::attach("/proc/self/exe"));
  EXPECT_EQ(gone(0), 0u);
}

TEST_F(OwnerTest, ForkedChildNeitherHoldsNorLetsGo) {
  make(1);
  std::optional<SessionMap> map = *SessionMap::attach(session->path());
  ASSERT_NE(map->claim_ring(), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    map.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(gone(0), 0u);
}

TEST_F(OwnerTest, OwnerInAnotherPidNamespaceIsNotGone) {
  make(1);
  const pid_t child = claiming_child([](SessionMap&) {});
  auto& theirs = const_cast<Owner&>(owner(0));
  theirs.pid_namespace.fetch_add(1);
  end(child);
  EXPECT_EQ(gone(0), 0u);
  theirs.pid_namespace.fetch_sub(1);
  EXPECT_NE(gone(0), 0u);
}

TEST_F(OwnerTest, TakeBackRefusesANewOwner) {
  make(1);
  const Result<SessionMap> map = SessionMap::attach(session->path());
  ASSERT_NE(map->claim_ring(), nullptr);
  auto& mine = const_cast<Owner&>(owner(0));
  EXPECT_FALSE(mine.take_back(static_cast<std::uint32_t>(getpid()) + 1));
  EXPECT_EQ(mine.load(), static_cast<std::uint32_t>(getpid()));
  EXPECT_TRUE(mine.take_back(static_cast<std::uint32_t>(getpid())));
  EXPECT_EQ(mine.load(), 0u);
  EXPECT_EQ(mine.mapping.load(), 0u);
}

// Repeats the consumer's part of the protocol in ring.h.
class Consumer {
 public:
  explicit Consumer(const SessionOwner& session) : session_(session) {
    for (std::size_t i = 0; i < session.map().header().rings[0].count; ++i)
      readers_.emplace_back(session.map().ring(i));
    session.map().header().reclaims_rings = 1;
  }

  void round() {
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      RingHeader& ring = *session_.map().ring(i);
      if (ring.owner.load(std::memory_order_acquire) == 0) continue;
      read(i);
      const std::uint32_t gone = gone_owner(ring.owner, session_.path(), OwnerLook::thorough);
      if (gone == 0) continue;
      read(i);
      lost += readers_[i].dropped() + readers_[i].corrupt();
      last_[i].reset();
      readers_[i] = RingReader(&ring);
      reset_ring(ring);
      ring.owner.take_back(gone);
    }
  }

  std::map<std::uint32_t, std::uint32_t> received;  // events by producer
  std::set<std::size_t> used;                       // rings
  std::uint64_t lost = 0;
  bool wrong = false;  // out of order, or two producers in one ring at once

 private:
  void read(std::size_t i) {
    readers_[i].read([&](const EventHeader& header) {
      const WaitEvent* wait = event_cast<WaitEvent>(header);
      if (wait == nullptr) {
        wrong = true;
        return;
      }
      std::optional<std::pair<std::uint32_t, std::uint32_t>>& last = last_[i];
      wrong |= last && (last->first != wait->value || last->second + 1 != wait->iteration);
      wrong |= !last && wait->iteration != 0;
      last = {wait->value, wait->iteration};
      ++received[wait->value];
      used.insert(i);
    });
  }

  const SessionOwner& session_;
  std::vector<RingReader> readers_;
  std::map<std::size_t, std::optional<std::pair<std::uint32_t, std::uint32_t>>> last_;
};

// Runs one producer, which writes its number into every event.
bool produce(const std::string& path, std::uint32_t number, std::uint32_t events) {
  const Result<SessionMap> map = SessionMap::attach(path);
  if (!map) return false;
  RingHeader* ring = nullptr;
  for (int i = 0; i < 100 && ring == nullptr; ++i) ring = map->claim_ring();  // a slow machine under a sanitizer
  if (ring == nullptr) return false;
  RingWriter writer(ring);
  WaitEvent event = make_event<WaitEvent>();
  event.value = number;
  for (std::uint32_t i = 0; i < events; ++i) {
    event.iteration = i;
    while (!writer.write(event)) sched_yield();
  }
  return true;
}

TEST_F(OwnerTest, RingsPassBetweenProducersWithoutLossOrMixing) {
  constexpr std::uint32_t kThreads = 4, kLives = 25, kEvents = 50;
  make(3);
  Consumer consumer(*session);
  std::atomic<std::uint32_t> done{0}, failed{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kLives; ++i) failed += !produce(session->path(), t * kLives + i, kEvents);
      ++done;
    });
  }
  while (done < kThreads) consumer.round();
  for (std::thread& thread : threads) thread.join();
  consumer.round();
  EXPECT_EQ(failed, 0u);
  EXPECT_FALSE(consumer.wrong);
  EXPECT_EQ(consumer.received.size(), kThreads * kLives);
  for (const auto& [number, count] : consumer.received) EXPECT_EQ(count, kEvents) << number;
  EXPECT_LE(consumer.used.size(), 3u);
}

TEST_F(OwnerTest, ManySuccessiveProcessesShareARing) {
  make(1);
  Consumer consumer(*session);
  for (std::uint32_t number = 0; number < 40; ++number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      const Result<SessionMap> map = SessionMap::attach(session->path());
      RingHeader* ring = map ? map->claim_ring() : nullptr;
      if (ring == nullptr) _exit(1);
      RingWriter writer(ring);
      WaitEvent event = make_event<WaitEvent>();
      event.value = number;
      for (; event.iteration < 10; ++event.iteration) writer.write(event);
      _exit(0);  // without letting go
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) consumer.round();
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << number;
  }
  consumer.round();
  EXPECT_FALSE(consumer.wrong);
  EXPECT_EQ(consumer.received.size(), 40u);
  for (const auto& [number, count] : consumer.received) EXPECT_EQ(count, 10u) << number;
  EXPECT_EQ(session->map().header().rings_refused, 0u);
}

TEST_F(OwnerTest, CountsAProducerWithoutARing) {
  make(1);
  const Result<SessionMap> map = SessionMap::attach(session->path());
  ASSERT_NE(map->claim_ring(), nullptr);
  EXPECT_EQ(map->claim_ring(), nullptr);
  EXPECT_EQ(map->header().rings_refused, 1u);
}

// A runtime that ends and begins anew gets its place again, and the session at the same address: the tool sees neither
// the old mapping nor the new one.
TEST(Owner, WhoeverComesAgainDuringALookIsNotGone) {
  Owner owner{};
  std::atomic<std::uint32_t> times{0};
  std::atomic<bool> stop{false};
  std::thread comes_and_goes([&] {
    while (!stop) {
      owner.claim(&owner);
      ++times;
      for (const TimeNs until = now_ns() + 20 * kMicrosecond; now_ns() < until;) continue;
      owner.give_back();
    }
  });
  int looks = 0, wrong = 0;
  for (const TimeNs until = now_ns() + 60 * kSecond; looks < 30 && now_ns() < until;) {
    const std::uint32_t before = times;
    const bool gone = gone_owner(owner, "/no.session", OwnerLook::thorough) != 0;
    if (times - before < 3) continue;  // the thread had no CPU
    ++looks;
    wrong += gone ? 1 : 0;
  }
  stop = true;
  comes_and_goes.join();
  EXPECT_EQ(looks, 30);
  EXPECT_LT(wrong, 15);  // the thread may lose its CPU for most of a look
}

}  // namespace
}  // namespace wicprof
