#include "collector/waits/others_work.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

constexpr std::uint32_t kWaits = 1, kLaunches = 2;

TEST(OthersWork, IsNoticedOnlyWhileAnotherThreadWaits) {
  OthersWork others;
  others.begins(kLaunches);
  EXPECT_TRUE(others.quiet());
  OthersWork::Wait wait(others, kWaits, false);
  others.begins(kWaits);  // its own, such as the copy that it is in
  EXPECT_TRUE(others.quiet());
  EXPECT_FALSE(wait.interrupted());
  others.begins(kLaunches);
  EXPECT_FALSE(others.quiet());
  EXPECT_TRUE(wait.interrupted());
}

TEST(OthersWork, ComesAfterTheCallsThatHaveToGoOn) {
  OthersWork others;
  std::atomic<int> woken{0};
  others.on_watching([](bool) {}, [&] { ++woken; });
  std::optional<OthersWork::Wait> wait;
  wait.emplace(others, kWaits, true);
  std::atomic<bool> gone{false};
  std::thread waiting([&] {
    while (!wait->interrupted()) std::this_thread::yield();
    gone = true;
    wait.reset();
  });
  others.begins(kLaunches);
  EXPECT_TRUE(gone);
  EXPECT_EQ(woken, 1);
  waiting.join();
}

TEST(OthersWork, DoesNotComeAtAllLateWhereACallDoesNotGoOn) {
  OthersWork others;
  const OthersWork::Wait wait(others, kWaits, true);
  others.begins(kLaunches);  // returns
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
  const auto wait = [&] { const OthersWork::Wait one(others, kWaits, true); };
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
  for (int i = 0; i < 30; ++i) others.tick();  // nobody waits
  EXPECT_FALSE(watched);
  const int before = changes;
  wait();
  EXPECT_TRUE(watched);
  EXPECT_EQ(changes, before + 1);
}

}  // namespace
}  // namespace wicprof::collector
