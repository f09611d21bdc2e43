#include "src/strategy/site_census.h"

#include <gtest/gtest.h>

#include "wic/word_tag.h"

namespace wic {
namespace {

using wicprof::kMicrosecond;
using wicprof::kMillisecond;
using wicprof::StrategyId;
using wicprof::TimeNs;

constexpr wicprof::SiteId kSite = 3;
constexpr TimeNs kLater = 60 * kMillisecond;

wicprof::WaitEvent wait(std::uint64_t arrived, std::uint64_t resumed, wicprof::WordTag word, std::uint32_t polls = 10) {
  auto e = wicprof::make_event<wicprof::WaitEvent>();
  e.site = kSite;
  e.device = 0;
  e.arrived_ns = arrived;
  e.resumed_ns = resumed;
  e.word_tag = word;
  e.polls = polls;
  e.waited = polls != 1 ? 1 : 0;
  e.warps = 8;
  e.strategy = static_cast<std::uint8_t>(StrategyId::poll);
  e.status = wicprof::WaitStatus::satisfied;
  return e;
}

// `rounds` rounds of `waiters` simultaneous waits of `length` on one word.
void add_rounds(SiteCensus& census, int rounds, int waiters, TimeNs length, wicprof::WordTag word = 7) {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin =
        1'000'000'000 + static_cast<std::uint64_t>(round) * 2 * static_cast<std::uint64_t>(length);
    for (int w = 0; w < waiters; ++w)
      census.add(wait(begin + w % 3, begin + static_cast<std::uint64_t>(length), word), 0);
  }
}

TEST(SiteCensus, AWindowNeedsWaitsAndTime) {
  SiteCensus census;
  for (std::uint64_t i = 0; i + 1 < SiteCensus::kFewestWaits; ++i) census.add(wait(i * 100, i * 100 + 50, 7), 0);
  EXPECT_FALSE(census.take(kSite, kLater));
  census.add(wait(9'000, 9'050, 7), 0);
  EXPECT_FALSE(census.take(kSite, SiteCensus::kShortestWindow - 1));
  EXPECT_FALSE(census.take(kSite + 1, kLater));
  ASSERT_TRUE(census.take(kSite, kLater));
  EXPECT_FALSE(census.take(kSite, kLater));  // the next window is empty
}

TEST(SiteCensus, CountsSimultaneousWaitersOnOneWord) {
  SiteCensus census;
  add_rounds(census, 4, 40, 100 * kMicrosecond);
  const auto seen = census.take(kSite, kLater);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->waits, 160u);
  EXPECT_EQ(seen->waiters_per_word, 40u);
  EXPECT_EQ(seen->waiters, 40u);
  EXPECT_EQ(seen->words, 1u);
  EXPECT_EQ(seen->warps, 8u);
  EXPECT_FALSE(seen->each_thread);
  EXPECT_NEAR(static_cast<double>(seen->median_ns), 100'000, 3);
  EXPECT_NEAR(static_cast<double>(seen->look_ns.value()), 10'000, 1);
}

TEST(SiteCensus, SeparateWordsAreCounted) {
  SiteCensus census;
  for (wicprof::WordTag word = 1; word <= 50; ++word) add_rounds(census, 2, 1, 100 * kMicrosecond, word);
  const auto seen = census.take(kSite, kLater);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->waiters_per_word, 1u);
  EXPECT_EQ(seen->waiters, 50u);
  EXPECT_EQ(seen->words, 50u);
}

TEST(SiteCensus, OneWordOnTwoDevicesCountsPerDevice) {
  SiteCensus census;
  for (int i = 0; i < 80; ++i) {
    auto e = wait(100, 200, 7);
    e.device = i % 2;
    census.add(e, 0);
  }
  EXPECT_EQ(census.take(kSite, kLater)->waiters_per_word, 40u);
}

TEST(SiteCensus, UnknownWordsAreNotCounted) {
  SiteCensus census;
  add_rounds(census, 2, 40, 100 * kMicrosecond);
  census.add(wait(100, 200, 0), 0);
  const auto seen = census.take(kSite, kLater);
  EXPECT_EQ(seen->waiters_per_word, 0u);
  EXPECT_EQ(seen->words, 0u);
  EXPECT_EQ(seen->waiters, 40u);
}

TEST(SiteCensus, AWordReadyAtTheFirstLookHasLengthZero) {
  SiteCensus census;
  for (std::uint64_t i = 0; i < 100; ++i) census.add(wait(i * 1'000, i * 1'000 + 900, 7, i < 60 ? 1 : 5), 0);
  const auto seen = census.take(kSite, kLater);
  EXPECT_EQ(seen->median_ns, 0);
  EXPECT_EQ(seen->look_ns, 180);
}

TEST(SiteCensus, TheDurationOfALookOutlivesItsWindow) {
  SiteCensus census;
  add_rounds(census, 2, 40, 100 * kMicrosecond);
  ASSERT_TRUE(census.take(kSite, kLater));
  for (int i = 0; i < 100; ++i) {
    auto e = wait(100, 200, 7, 0);
    e.strategy = static_cast<std::uint8_t>(StrategyId::shared_watch);
    census.add(e, kLater);
  }
  const auto seen = census.take(kSite, 2 * kLater);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->strategy, StrategyId::shared_watch);
  EXPECT_EQ(seen->median_ns, 100);
  EXPECT_NEAR(static_cast<double>(seen->look_ns.value()), 10'000, 1);
}

TEST(SiteCensus, ANewStrategyBeginsANewWindow) {
  SiteCensus census;
  add_rounds(census, 2, 40, 100 * kMicrosecond);
  auto parked = wait(100, 200, 7);
  parked.strategy = static_cast<std::uint8_t>(StrategyId::shared_watch);
  census.add(parked, kLater);
  EXPECT_FALSE(census.take(kSite, 2 * kLater));
}

TEST(SiteCensus, IgnoresPassedDeadlinesAndInvalidSites) {
  SiteCensus census;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto e = wait(i, i + 1, 7);
    e.status = wicprof::WaitStatus::deadline_passed;
    census.add(e, 0);
    e.status = wicprof::WaitStatus::satisfied;
    e.site = i % 2 == 0 ? 0 : 5'000;
    census.add(e, 0);
  }
  EXPECT_FALSE(census.take(kSite, kLater));
}

TEST(SiteCensus, MostThreadsPollingShows) {
  SiteCensus census;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto e = wait(i, i + 10, 7);
    e.each_thread = i < 70;
    census.add(e, 0);
  }
  EXPECT_TRUE(census.take(kSite, kLater)->each_thread);
}

TEST(SiteCensus, ManyWaitsAreThinnedOutByMoment) {
  SiteCensus census;
  add_rounds(census, 300, 500, 100 * kMicrosecond);  // 150,000 waits
  const auto seen = census.take(kSite, kLater);
  ASSERT_TRUE(seen);
  EXPECT_LE(seen->waits, SiteCensus::kMaxKeptWaits);
  EXPECT_GE(seen->waits, 500u);
  EXPECT_EQ(seen->waiters_per_word, 500u);
}

TEST(SiteCensus, TooManyWaitsOfOneMomentAreCut) {
  SiteCensus census;
  for (int i = 0; i < 3; ++i) {
    for (int w = 0; w < 20'000; ++w) census.add(wait(100, 200, 7), 0);
  }
  const auto seen = census.take(kSite, kLater);  // moment 0 is in every sample
  ASSERT_TRUE(seen);
  EXPECT_LE(seen->waits, SiteCensus::kMaxKeptWaits);
  EXPECT_GE(seen->waits, SiteCensus::kMaxKeptWaits / 2);
}

TEST(WordTag, IsNeverUnknownAndDiffersBetweenNeighbours) {
  std::vector<std::uint32_t> words(4096);
  std::vector<int> seen(65'536);
  int shared = 0;
  for (const std::uint32_t& word : words) {
    const wicprof::WordTag tag = word_tag(&word);
    ASSERT_NE(tag, 0);
    shared += seen[tag]++ > 0 ? 1 : 0;
  }
  EXPECT_LT(shared, 512);  // by chance 4,096 of 65,535 values share some 125
}

}  // namespace
}  // namespace wic
