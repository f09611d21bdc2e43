#include "collector/program/counter_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace wicprof::collector {
namespace {

constexpr TimeNs kBegin = 5 * kSecond;
constexpr std::uint64_t kCounter = 1'000'000'000;

/// Pairs of a counter with so many ns per count, every 100 ms.
void follow(CounterClock& clock, int ticks, double ns_per_count = 0.4, TimeNs begin = kBegin,
            std::uint64_t counter = kCounter) {
  for (int i = 0; i < ticks; ++i) {
    const TimeNs passed = i * 100 * kMillisecond;
    clock.follow(counter + static_cast<std::uint64_t>(static_cast<double>(passed) / ns_per_count), begin + passed);
  }
}

std::optional<TimeNs> at(const CounterClock& clock, std::uint64_t counter) {
  TimeNs ns = 0;
  return clock.at(counter, ns) ? std::optional(ns) : std::nullopt;
}

TEST(CounterClock, IsNotKnownBeforeItsRateIs) {
  CounterClock clock(true);
  EXPECT_FALSE(at(clock, kCounter));
  follow(clock, 1);
  EXPECT_FALSE(at(clock, kCounter));
  clock.follow(kCounter + 10'000'000, kBegin + 4 * kMillisecond);  // too short to tell a rate
  EXPECT_FALSE(at(clock, kCounter + 10'000'000));
}

TEST(CounterClock, GoesOnAtTheMeasuredRate) {
  for (const int ticks : {2, 9, 15, 40}) {
    CounterClock clock(true);
    follow(clock, ticks);
    const TimeNs last = kBegin + (ticks - 1) * 100 * kMillisecond;
    const std::uint64_t counter = kCounter + static_cast<std::uint64_t>(last - kBegin) * 5 / 2;
    ASSERT_TRUE(at(clock, counter));
    EXPECT_EQ(*at(clock, counter), last);
    EXPECT_NEAR(static_cast<double>(*at(clock, counter + 250'000'000) - last), 100e6, 1);
  }
}

TEST(CounterClock, IsNotKnownTooLongAfterItWasCompared) {
  CounterClock clock(true);
  follow(clock, 20);
  const std::uint64_t last = kCounter + 19 * 250'000'000ull;
  EXPECT_TRUE(at(clock, last + 2'490'000'000));
  EXPECT_FALSE(at(clock, last + 2'510'000'000));
  EXPECT_FALSE(at(clock, last - 1));  // a counter that went back
}

TEST(CounterClock, MeasuresTheRateAnewWhereTheCounterIsOff) {
  CounterClock clock(true);
  follow(clock, 20);
  const TimeNs end = kBegin + 20 * 100 * kMillisecond;
  const std::uint64_t jumped = kCounter + 20 * 250'000'000ull + 100'000;  // 40 us ahead, as on another host
  clock.follow(jumped, end);
  EXPECT_FALSE(at(clock, jumped));
  follow(clock, 3, 0.5, end, jumped);
  const std::uint64_t last = jumped + 2 * 200'000'000;
  ASSERT_TRUE(at(clock, last + 200'000'000));
  EXPECT_NEAR(static_cast<double>(*at(clock, last + 200'000'000) - end), 300e6, 1);
}

TEST(CounterClock, FollowsARateThatChangesSlowly) {
  CounterClock clock(true);
  double counter = kCounter;
  for (int i = 0; i < 100; ++i) {
    const TimeNs now = kBegin + i * 100 * kMillisecond;
    const std::optional<TimeNs> known = at(clock, static_cast<std::uint64_t>(counter));
    if (i > 1) {
      ASSERT_TRUE(known);
      EXPECT_NEAR(static_cast<double>(*known - now), 0, 200);
    }
    clock.follow(static_cast<std::uint64_t>(counter), now);
    counter += 250'000'000 * (1 + i * 1e-9);
  }
  EXPECT_TRUE(at(clock, static_cast<std::uint64_t>(counter)));
}

TEST(CounterClock, DoesNotUseACounterThatIsSlowOrNotTheSystems) {
  CounterClock slow(true);
  follow(slow, 20, 1.5);
  EXPECT_FALSE(at(slow, kCounter + 1'000'000'000));
  CounterClock other(false);
  follow(other, 20);
  other.follow();
  EXPECT_FALSE(at(other, kCounter + 19 * 250'000'000ull));
  const TimeNs before = now_ns(), now = other.now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, now_ns());
}

TEST(CounterClock, AsksWhatTheSystemUses) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "clocksource";
  for (const char* const name : {"tsc", "hpet", ""}) {
    std::ofstream(file) << name << '\n';
#if defined(__x86_64__)
    EXPECT_EQ(CounterClock::system_uses_counter(file.c_str()), std::string(name) == "tsc");
#else
    EXPECT_FALSE(CounterClock::system_uses_counter(file.c_str()));
#endif
  }
  std::filesystem::remove(file);
  EXPECT_FALSE(CounterClock::system_uses_counter(file.c_str()));
}

TEST(CounterClock, IsReadWhileItIsCompared) {
  CounterClock clock(true);
  follow(clock, 3);
  std::atomic<std::uint64_t> latest{kCounter + 2 * 250'000'000ull};
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (int i = 3; !done; ++i) {
      const std::uint64_t counter = kCounter + static_cast<std::uint64_t>(i) * 250'000'000;
      clock.follow(counter, kBegin + i * 100 * kMillisecond);
      latest = counter;
    }
  });
  // A time from parts of two comparisons would be off by a tenth of a second or more.
  int known = 0;
  for (const TimeNs end = now_ns() + 20 * kSecond; known < 10'000 && now_ns() < end;) {
    const std::uint64_t counter = latest;
    TimeNs ns = 0;
    if (!clock.at(counter, ns)) continue;
    ++known;
    EXPECT_NEAR(static_cast<double>(ns - kBegin), static_cast<double>(counter - kCounter) * 0.4, 2);
  }
  done = true;
  other.join();
  EXPECT_GT(known, 0);
}

// On this machine, whose counter may not be its clock, but goes on steadily for so short a time.
TEST(CounterClock, StaysBesideTheSystemsClock) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "no time stamp counter";
#endif
  CounterClock clock(true);
  TimeNs ns = 0;
  for (const TimeNs end = now_ns() + 10 * kSecond; !clock.at(CounterClock::counter(), ns) && now_ns() < end;) {
    clock.follow();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  // A busy machine may take the CPU away between two looks: one of many is enough.
  bool beside = false;
  for (int i = 0; i < 1000 && !beside; ++i) {
    const TimeNs before = now_ns();
    if (!clock.at(CounterClock::counter(), ns)) clock.follow();
    beside = ns >= before - CounterClock::kMostOff && ns <= now_ns() + CounterClock::kMostOff;
  }
  EXPECT_TRUE(beside);
}

}  // namespace
}  // namespace wicprof::collector
