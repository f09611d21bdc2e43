#include "src/strategy/automatic.h"

#include <gtest/gtest.h>

namespace wic {
namespace {

using wicprof::kMicrosecond;
using wicprof::kMillisecond;
using wicprof::Pollers;
using wicprof::StrategyId;
using wicprof::TimeNs;
using wicprof::WordMemory;

const AutomaticLimits kLimits;

SiteSpec site(WordMemory memory = WordMemory::unknown, Pollers pollers = Pollers::leader, bool shared = false) {
  return {"site", memory, pollers, shared};
}

SiteObservation seen(std::uint32_t waiters_per_word, TimeNs median, std::optional<TimeNs> look = std::nullopt) {
  SiteObservation o;
  o.waits = 100;
  o.waiters_per_word = waiters_per_word;
  o.waiters = waiters_per_word;
  o.words = 1;
  o.warps = 8;
  o.median_ns = median;
  o.look_ns = look;
  return o;
}

StrategyId chosen(const SiteSpec& spec, const SiteObservation& o, StrategyId now = StrategyId::poll) {
  return choose(spec, o, now, kLimits).strategy;
}

TEST(Automatic, TheDeclarationDecidesWithoutObservations) {
  EXPECT_EQ(choose(site(), kLimits).strategy, StrategyId::leader_bar_sync);
  EXPECT_EQ(choose(site({}, Pollers::each_thread), kLimits).strategy, StrategyId::leader_bar_sync);
  EXPECT_EQ(choose(site({}, {}, true), kLimits).strategy, StrategyId::shared_watch);
  EXPECT_EQ(choose(site({}, Pollers::each_thread, true), kLimits).strategy, StrategyId::shared_watch);
  EXPECT_NE(choose(site(), kLimits).reason.find("declared"), std::string::npos);
  EXPECT_EQ(choose(site(), kLimits).seen.waits, 0u);
}

TEST(Automatic, ALoneWarpStartsWithPollingWordsOnTheDevice) {
  SiteSpec spec = site(WordMemory::device);
  spec.group_warps = 1;
  EXPECT_EQ(choose(spec, kLimits).strategy, StrategyId::poll);
  EXPECT_NE(choose(spec, kLimits).reason.find("no other warp to park"), std::string::npos);
  EXPECT_EQ(choose(spec, AutomaticLimits::of(wicprof::DeviceKind::simt)).strategy, StrategyId::leader_bar_sync);
  spec.group_warps = 4;
  EXPECT_EQ(choose(spec, kLimits).strategy, StrategyId::leader_bar_sync);
  spec = site(WordMemory::pinned_host);
  spec.group_warps = 1;
  EXPECT_EQ(choose(spec, kLimits).strategy, StrategyId::leader_bar_sync);
}

TEST(Automatic, ManyReadersOfAHostWordAreWatched) {
  for (const WordMemory memory : {WordMemory::pinned_host, WordMemory::managed}) {
    EXPECT_EQ(chosen(site(memory), seen(kHostWordReaders - 1, kMillisecond)), StrategyId::leader_bar_sync);
    EXPECT_EQ(chosen(site(memory), seen(kHostWordReaders, kMillisecond)), StrategyId::shared_watch);
  }
  EXPECT_EQ(chosen(site(WordMemory::pinned_host, {}, true), seen(2, kMillisecond)), StrategyId::leader_bar_sync);
}

TEST(Automatic, APeersWordNeedsMoreReaders) {
  EXPECT_EQ(chosen(site(WordMemory::peer_device), seen(kPeerWordReaders - 1, kMillisecond)),
            StrategyId::leader_bar_sync);
  EXPECT_EQ(chosen(site(WordMemory::peer_device), seen(kPeerWordReaders, kMillisecond)), StrategyId::shared_watch);
}

TEST(Automatic, AWordInDeviceMemoryIsPolledByHundreds) {
  EXPECT_EQ(chosen(site(WordMemory::device, {}, true), seen(528, kMillisecond, 50 * kMicrosecond)),
            StrategyId::leader_bar_sync);
  EXPECT_EQ(chosen(site(WordMemory::device), seen(kDeviceWordReaders, kMillisecond)), StrategyId::shared_watch);
}

TEST(Automatic, LooksDecideWhereTheMemoryIsUnknown) {
  EXPECT_EQ(chosen(site(), seen(kDistantWordReaders, kMillisecond, 2 * kMicrosecond)), StrategyId::shared_watch);
  EXPECT_EQ(chosen(site(), seen(kDistantWordReaders - 1, kMillisecond, 2 * kMicrosecond)), StrategyId::leader_bar_sync);
  EXPECT_EQ(chosen(site(), seen(528, kMillisecond, 700)), StrategyId::leader_bar_sync);
  EXPECT_EQ(chosen(site(), seen(528, kMillisecond)), StrategyId::shared_watch);  // duration of a look unknown
  EXPECT_EQ(chosen(site({}, {}, true), seen(528, kMillisecond)),
            StrategyId::shared_watch);  // declared as one shared word
}

TEST(Automatic, UnknownWordsAreAsDeclared) {
  SiteObservation o = seen(0, kMillisecond);
  o.waiters = 528;
  EXPECT_EQ(chosen(site(WordMemory::pinned_host, {}, true), o), StrategyId::shared_watch);
  EXPECT_EQ(chosen(site(WordMemory::pinned_host, {}, false), o), StrategyId::leader_bar_sync);
}

TEST(Automatic, PollingThreadsGetALeader) {
  EXPECT_EQ(chosen(site(WordMemory::device, Pollers::each_thread), seen(48, kMillisecond)),
            StrategyId::leader_bar_sync);
  SiteObservation undeclared = seen(48, kMillisecond);
  undeclared.each_thread = true;
  EXPECT_EQ(chosen(site(WordMemory::device), undeclared), StrategyId::leader_bar_sync);
  undeclared.warps = 1;  // no other warp to park
  EXPECT_EQ(chosen(site(WordMemory::device), undeclared), StrategyId::poll);
}

TEST(Automatic, FewLoneWarpsPollWordsOnTheDevice) {
  SiteObservation o = seen(1, kMillisecond);
  o.warps = 1;
  o.waiters = kLoneWarps;
  const Choice choice = choose(site(WordMemory::device), o, StrategyId::leader_bar_sync, kLimits);
  EXPECT_EQ(choice.strategy, StrategyId::poll);
  EXPECT_NE(choice.reason.find("no other warp to park"), std::string::npos) << choice.reason;
  EXPECT_EQ(chosen(site(WordMemory::device), o, StrategyId::poll), StrategyId::poll);
  // Across a bus, in unknown memory, and on the CPU device each look costs others something.
  EXPECT_EQ(chosen(site(WordMemory::pinned_host), o), StrategyId::leader_bar_sync);
  EXPECT_EQ(chosen(site(), o), StrategyId::leader_bar_sync);
  EXPECT_EQ(
      choose(site(WordMemory::device), o, StrategyId::poll, AutomaticLimits::of(wicprof::DeviceKind::simt)).strategy,
      StrategyId::leader_bar_sync);
  o.waiters = kLoneWarps + 1;
  EXPECT_EQ(chosen(site(WordMemory::device), o), StrategyId::leader_bar_sync);
  o.waiters = 1;
  o.warps = 8;
  EXPECT_EQ(chosen(site(WordMemory::device), o), StrategyId::leader_bar_sync);
}

TEST(Automatic, WithLeadersTheGroupsAreTheReaders) {
  const SiteSpec spec = site(WordMemory::pinned_host, Pollers::each_thread);
  EXPECT_EQ(chosen(spec, seen(7 * 8, kMillisecond)), StrategyId::leader_bar_sync);  // 8 warps per group
  EXPECT_EQ(chosen(spec, seen(8 * 8, kMillisecond)), StrategyId::shared_watch);
}

TEST(Automatic, ShortWaitsAlwaysPoll) {
  EXPECT_EQ(chosen(site(WordMemory::pinned_host, {}, true), seen(500, 0)), StrategyId::poll);
  EXPECT_EQ(chosen(site(WordMemory::device, Pollers::each_thread), seen(48, 300, 250)), StrategyId::poll);
  const Choice choice = choose(site(), seen(1, 300, 250), StrategyId::poll, kLimits);
  EXPECT_NE(choice.reason.find("300 ns"), std::string::npos) << choice.reason;
  EXPECT_NE(choice.reason.find("gains nothing"), std::string::npos) << choice.reason;
}

TEST(Automatic, BreakEvenDependsOnTheCurrentStrategy) {
  const SiteSpec spec = site(WordMemory::pinned_host);
  const TimeNs between = (kLimits.break_even_ns + kLimits.park_from_ns()) / 2;
  EXPECT_EQ(chosen(spec, seen(500, between), StrategyId::poll), StrategyId::poll);
  EXPECT_EQ(chosen(spec, seen(500, between), StrategyId::shared_watch), StrategyId::shared_watch);
  EXPECT_EQ(chosen(spec, seen(500, kLimits.break_even_ns - 1), StrategyId::shared_watch), StrategyId::poll);
  EXPECT_EQ(chosen(spec, seen(500, kLimits.park_from_ns()), StrategyId::poll), StrategyId::shared_watch);
}

// Under shared_watch these waits are short because they are parked: one polling look would take longer than the wait.
TEST(Automatic, ShortWaitsStayParkedWhereLooksAreSlow) {
  const SiteSpec spec = site(WordMemory::pinned_host);
  EXPECT_EQ(chosen(spec, seen(500, 400, 500 * kMicrosecond), StrategyId::shared_watch), StrategyId::shared_watch);
  EXPECT_EQ(chosen(spec, seen(500, 400, 300), StrategyId::shared_watch), StrategyId::poll);
}

TEST(Automatic, AWatcherStaysUntilClearlyFewerWait) {
  const SiteSpec spec = site(WordMemory::pinned_host);
  EXPECT_EQ(chosen(spec, seen(kHostWordReaders - 1, kMillisecond), StrategyId::shared_watch), StrategyId::shared_watch);
  EXPECT_EQ(chosen(spec, seen(kHostWordReaders / 2, kMillisecond), StrategyId::shared_watch),
            StrategyId::leader_bar_sync);
}

TEST(Automatic, TheReasonNamesTheFigures) {
  const std::string reason =
      choose(site(WordMemory::pinned_host), seen(528, 1'230'000, 500'000), StrategyId::poll, kLimits).reason;
  for (const char* figure : {"528", "pinned host memory", "1.23 ms", "500 us", "8 readers"}) {
    EXPECT_NE(reason.find(figure), std::string::npos) << figure << " in: " << reason;
  }
}

TEST(Automatic, TheCpuDeviceIsSlower) {
  const AutomaticLimits limits = AutomaticLimits::of(wicprof::DeviceKind::simt);
  EXPECT_GT(limits.break_even_ns, kLimits.break_even_ns);
  EXPECT_EQ(AutomaticLimits::of(wicprof::DeviceKind::cuda).break_even_ns, kBreakEvenNs);
}

const SiteObservation kLong = seen(500, kMillisecond);
const SiteObservation kShort = seen(500, 0);

TEST(SiteChooser, ChangesWhenTwoWindowsAgree) {
  SiteChooser chooser(site(WordMemory::pinned_host), kLimits);
  EXPECT_EQ(chooser.now().strategy, StrategyId::leader_bar_sync);
  EXPECT_FALSE(chooser.see(kLong));
  EXPECT_TRUE(chooser.see(kLong));
  EXPECT_EQ(chooser.now().strategy, StrategyId::shared_watch);
  EXPECT_EQ(chooser.now().seen.waiters_per_word, 500u);
  EXPECT_FALSE(chooser.see(kLong));
}

TEST(SiteChooser, ReportsOnceThatTheDeclarationIsConfirmed) {
  SiteChooser chooser(site(WordMemory::pinned_host, {}, true), kLimits);
  EXPECT_EQ(chooser.now().seen.waits, 0u);
  EXPECT_FALSE(chooser.see(kLong));
  EXPECT_TRUE(chooser.see(kLong));
  EXPECT_EQ(chooser.now().strategy, StrategyId::shared_watch);
  EXPECT_EQ(chooser.now().seen.waits, 100u);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(chooser.see(kLong));
}

TEST(SiteChooser, AlternatingWindowsChangeNothing) {
  SiteChooser chooser(site(WordMemory::pinned_host), kLimits);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(chooser.see(i % 2 == 0 ? kLong : kShort)) << i;
  EXPECT_EQ(chooser.now().strategy, StrategyId::leader_bar_sync);
}

// Slow changes, so that two windows agree each time: the chooser follows at first, then settles.
TEST(SiteChooser, AnOscillatingSiteSettles) {
  SiteChooser chooser(site(WordMemory::pinned_host), kLimits);
  int early = 0, late = 0;
  for (int turn = 0; turn < 400; ++turn) {
    for (int window = 0; window < 4; ++window) {
      const bool changed = chooser.see(turn % 2 == 0 ? kLong : kShort);
      (turn < 20 ? early : late) += changed ? 1 : 0;
    }
  }
  EXPECT_GE(early, 2);
  EXPECT_LE(early, 6);
  EXPECT_EQ(late, 0);
}

TEST(SiteChooser, AfterALongRestItReactsQuicklyAgain) {
  SiteChooser chooser(site(WordMemory::pinned_host), kLimits);
  const auto windows_until_change = [&](const SiteObservation& o) {
    for (int i = 1; i <= 1000; ++i) {
      if (chooser.see(o)) return i;
    }
    return -1;
  };
  EXPECT_EQ(windows_until_change(kLong), 2);
  EXPECT_EQ(windows_until_change(kShort), 2);
  EXPECT_EQ(windows_until_change(kLong), 2);
  EXPECT_EQ(windows_until_change(kShort), 4);  // one return is remembered
  for (std::uint32_t i = 0; i < 10 * SiteChooser::kForgetsAfter; ++i) chooser.see(kShort);
  EXPECT_EQ(windows_until_change(kLong), 2);
}

}  // namespace
}  // namespace wic
