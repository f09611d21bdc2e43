#include "collector/waits/others_work.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

constexpr std::uint32_t kWaits = 1, kLaunches = 2;
const auto kStream = reinterpret_cast<CUstream>(16), kOther = reinterpret_cast<CUstream>(17);

TEST(OthersWork, InOtherStreamsConcernsNoWaitForOne) {
  OthersWork others;
  OthersWork::Wait wait(others, kWaits, Whose::streams, kStream);
  OthersWork::Wait of_own(others, kWaits, Whose::streams, CU_STREAM_PER_THREAD);
  others.begins(kLaunches, kOther);
  others.begins(kLaunches, CU_STREAM_LEGACY);
  others.begins(kLaunches, CU_STREAM_PER_THREAD);  // of that thread
  EXPECT_FALSE(wait.interrupted());
  EXPECT_FALSE(of_own.interrupted());
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(wait.interrupted());
  EXPECT_FALSE(wait.has_to_go_on());
  EXPECT_TRUE(others.quiet());  // for those who wait for all
}

TEST(OthersWork, IsNoticedOnlyWhileAnotherThreadWaits) {
  OthersWork others;
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(others.quiet());
  OthersWork::Wait wait(others, kWaits, Whose::everybodys);
  others.begins(kWaits, kStream);  // its own, such as the copy that it is in
  EXPECT_TRUE(others.quiet());
  EXPECT_FALSE(wait.interrupted());
  others.begins(kLaunches, kStream);
  EXPECT_FALSE(others.quiet());
  EXPECT_TRUE(wait.interrupted());
}

TEST(OthersWork, CapturesConcernWhoeverGivesWay) {
  OthersWork others({kMillisecond, kMillisecond});
  OthersWork::Wait for_event(others, kWaits, Whose::nobodys), copies(others, kWaits, Whose::streams, kStream);
  copies.give_way();
  others.begins_capture(kLaunches);
  EXPECT_FALSE(for_event.interrupted());
  EXPECT_TRUE(copies.has_to_go_on());
}

constexpr Patience kLong{60 * kSecond, 60 * kSecond};

/// CPU time of the calling thread.
TimeNs computed() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

/// A thread leaves its wait, and `does` something on its way to the driver. Another one begins a capture meanwhile:
/// whether that came after `does`, which sets its argument.
template <class Does>
bool comes_after(Patience patience, Does does) {
  OthersWork others(patience);
  std::atomic<bool> left{false}, over{false};
  std::atomic<int> reached{0};
  std::thread waits([&] {
    OthersWork::Wait wait(others, kWaits, Whose::nobodys);
    wait.leaves();
    left = true;
    does(wait, reached);
    while (!over) std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  while (!left) std::this_thread::yield();
  others.begins_capture(kLaunches);
  const bool after = reached != 0;
  over = true;
  waits.join();
  return after;
}

TEST(OthersWork, CapturesComeAfterTheCallsThatAreOnTheirWay) {
  EXPECT_TRUE(comes_after(kLong, [](OthersWork::Wait& wait, std::atomic<int>& reached) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // asleep in the callback: not yet in the driver
    reached = 1;
    wait.returns();
  }));
  EXPECT_TRUE(comes_after(kLong, [](OthersWork::Wait& wait, std::atomic<int>& reached) {
    wait.returns();
    const TimeNs returned = computed();
    while (computed() < returned + 10'000) continue;  // on the way
    reached = 1;
    while (computed() < returned + 20 * kMillisecond) continue;  // as in a wait that spins
  }));
}

TEST(OthersWork, ALockOnTheWayIsNotTheDriver) {
  std::timed_mutex held;
  held.lock();
  EXPECT_TRUE(comes_after(kLong, [&](OthersWork::Wait& wait, std::atomic<int>& reached) {
    wait.returns();
    EXPECT_FALSE(held.try_lock_for(std::chrono::milliseconds(3)));
    reached = 1;
  }));
  // A sleep of the driver's own: the call is where it waits.
  EXPECT_FALSE(comes_after(kLong, [](OthersWork::Wait& wait, std::atomic<int>& reached) {
    wait.returns();
    poll(nullptr, 0, 300);
    reached = 1;
  }));
  // Nor is a lock waited for that is not given back.
  EXPECT_FALSE(comes_after(kLong, [&](OthersWork::Wait& wait, std::atomic<int>& reached) {
    wait.returns();
    EXPECT_FALSE(held.try_lock_for(std::chrono::milliseconds(300)));
    reached = 1;
  }));
}

TEST(OthersWork, CapturesDoNotWaitForEver) {
  EXPECT_FALSE(comes_after({kMillisecond, kMillisecond}, [](OthersWork::Wait&, std::atomic<int>&) {}));
}

TEST(OthersWork, ComesAfterTheCallsThatHaveToGoOn) {
  OthersWork others(kLong);
  std::atomic<int> woken{0};
  others.on_watching([](bool) {}, [&] { ++woken; });
  std::optional<OthersWork::Wait> wait;
  wait.emplace(others, kWaits, Whose::everybodys);
  wait->give_way();
  std::atomic<bool> gone{false};
  std::thread waiting([&] {
    while (!wait->has_to_go_on()) std::this_thread::yield();
    gone = true;
    wait.reset();
  });
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(gone);
  EXPECT_GE(woken, 1);
  waiting.join();
}

// A wake-up that comes between a thread's look and its sleep is lost.
TEST(OthersWork, WakesAgainWhoWasAboutToSleep) {
  OthersWork others({2 * kSecond, 2 * kSecond});
  std::atomic<int> woken{0};
  others.on_watching([](bool) {}, [&] { ++woken; });
  std::optional<OthersWork::Wait> wait;
  wait.emplace(others, kWaits, Whose::everybodys);
  wait->give_way();
  std::atomic<bool> gone{false}, over{false};
  std::thread waiting([&] {
    while (woken < 2 && !over) std::this_thread::yield();
    gone = !over;
    wait.reset();
  });
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(gone);
  over = true;
  waiting.join();
}

TEST(OthersWork, DoesNotComeAtAllLateWhereACallDoesNotGoOn) {
  OthersWork others;
  OthersWork::Wait wait(others, kWaits, Whose::everybodys);
  wait.give_way();
  others.begins(kLaunches, kStream);  // returns
  EXPECT_TRUE(wait.interrupted());
}

TEST(OthersWork, WaitsForEventsHaveNoLaunchesWatched) {
  OthersWork others;
  bool watched = false;
  others.on_watching([&](bool on) { watched |= on; }, [] {});
  const OthersWork::Wait lasts(others, kWaits, Whose::nobodys);
  for (int i = 0; i < 40; ++i) others.tick();
  EXPECT_FALSE(watched);
}

// Work that comes unseen keeps a call for a stream, perhaps for ever.
TEST(OthersWork, LaunchesAreWatchedAsLongAsThreadsWait) {
  OthersWork others;
  bool watched = false;
  int changes = 0;
  others.on_watching(
      [&](bool on) {
        watched = on;
        ++changes;
      },
      [] {});
  const auto wait = [&] { const OthersWork::Wait one(others, kWaits, Whose::streams, kStream); };
  for (int i = 0; i < 40; ++i) {  // short waits
    wait();
    EXPECT_TRUE(watched);
    others.tick();
  }
  {
    const OthersWork::Wait lasts(others, kWaits, Whose::everybodys);
    for (int i = 0; i < 40; ++i) others.tick();
    EXPECT_TRUE(watched);
  }
  for (int i = 0; i < 30; ++i) others.tick();  // nobody waits
  EXPECT_FALSE(watched);
  EXPECT_EQ(changes, 2);
  wait();
  EXPECT_TRUE(watched);
}

// A thread begins to wait while the callbacks are being disabled, which takes CUPTI a while.
TEST(OthersWork, LaunchesAreWatchedForAWaitThatBeginsAsTheWatchingEnds) {
  OthersWork others;
  std::atomic<bool> watched{false};
  std::optional<OthersWork::Wait> wait;
  std::thread waits;
  others.on_watching(
      [&](bool on) {
        if (!on) {
          waits = std::thread([&] { wait.emplace(others, kWaits, Whose::everybodys); });
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        watched = on;
      },
      [] {});
  { const OthersWork::Wait one(others, kWaits, Whose::everybodys); }
  for (int i = 0; i < 30 && !waits.joinable(); ++i) others.tick();
  ASSERT_TRUE(waits.joinable());
  waits.join();
  EXPECT_TRUE(watched);
}

}  // namespace
}  // namespace wicprof::collector
