#include "collector/waits/others_work.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

constexpr std::uint32_t kWaits = 1, kLaunches = 2;
const auto kStream = reinterpret_cast<CUstream>(16), kOther = reinterpret_cast<CUstream>(17);

TEST(OthersWork, InOtherStreamsConcernsNoWaitForOne) {
  OthersWork others;
  OthersWork::Wait wait(others, kWaits, kStream, false);
  OthersWork::Wait of_own(others, kWaits, CU_STREAM_PER_THREAD, false);
  others.begins(kLaunches, kOther);
  others.begins(kLaunches, CU_STREAM_LEGACY);
  others.begins(kLaunches, CU_STREAM_PER_THREAD);  // of that thread
  EXPECT_FALSE(wait.interrupted());
  EXPECT_FALSE(of_own.interrupted());
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(wait.interrupted());
  EXPECT_TRUE(others.quiet());  // for those who wait for all
}

TEST(OthersWork, IsNoticedOnlyWhileAnotherThreadWaits) {
  OthersWork others;
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(others.quiet());
  OthersWork::Wait wait(others, kWaits, nullptr, false);
  others.begins(kWaits, kStream);  // its own, such as the copy that it is in
  EXPECT_TRUE(others.quiet());
  EXPECT_FALSE(wait.interrupted());
  others.begins(kLaunches, kStream);
  EXPECT_FALSE(others.quiet());
  EXPECT_TRUE(wait.interrupted());
}

TEST(OthersWork, ComesAfterTheCallsThatHaveToGoOn) {
  OthersWork others(60 * kSecond);
  std::atomic<int> woken{0};
  others.on_watching([](bool) {}, [&] { ++woken; });
  std::optional<OthersWork::Wait> wait;
  wait.emplace(others, kWaits, nullptr, true);
  std::atomic<bool> gone{false};
  std::thread waiting([&] {
    while (!wait->interrupted()) std::this_thread::yield();
    gone = true;
    wait.reset();
  });
  others.begins(kLaunches, kStream);
  EXPECT_TRUE(gone);
  EXPECT_EQ(woken, 1);
  waiting.join();
}

TEST(OthersWork, DoesNotComeAtAllLateWhereACallDoesNotGoOn) {
  OthersWork others;
  const OthersWork::Wait wait(others, kWaits, nullptr, true);
  others.begins(kLaunches, kStream);  // returns
  EXPECT_TRUE(wait.interrupted());
}

TEST(OthersWork, LaunchesAreWatchedAtFirstAndNowAndThen) {
  OthersWork others;
  bool watched = false;
  int changes = 0;
  others.on_watching(
      [&](bool on) {
        watched = on;
        ++changes;
      },
      [] {});
  const auto wait = [&] { const OthersWork::Wait one(others, kWaits, nullptr, true); };
  wait();
  EXPECT_TRUE(watched);
  std::vector<bool> seen;
  for (int i = 0; i < 40; ++i) {
    wait();
    others.tick();
    seen.push_back(watched);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.begin() + 10, true), 10);
  EXPECT_EQ(std::count(seen.begin() + 10, seen.end(), true), 3);
  {
    const OthersWork::Wait lasts(others, kWaits, nullptr, true);
    int watching = 0;
    for (int i = 0; i < 40; ++i) {
      others.tick();
      watching += watched;
    }
    EXPECT_EQ(watching, 4);
  }
  for (int i = 0; i < 30; ++i) others.tick();  // nobody waits
  EXPECT_FALSE(watched);
  const int before = changes;
  wait();
  EXPECT_TRUE(watched);
  EXPECT_EQ(changes, before + 1);
}

}  // namespace
}  // namespace wicprof::collector
