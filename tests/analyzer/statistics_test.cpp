#include "analyzer/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/measure/durations.h"

namespace wicprof::analyzer {
namespace {

TEST(Durations, HaveThePercentilesOfTheirValues) {
  EXPECT_EQ(Durations().typical().p50, 0);
  EXPECT_EQ(Durations().typical().max, 0);
  std::mt19937_64 random(5);
  for (const std::size_t size : {1u, 2u, 999u, 30'000u}) {
    for (const int bits : {4, 20, 31, 33, 40}) {
      Durations first, second;
      std::vector<TimeNs> values;
      TimeNs sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const auto value = static_cast<TimeNs>(random() >> (64 - bits)) - (bits == 20 ? 1'000 : 0);
        values.push_back(value);
        sum += value;
        (i % 3 == 0 ? first : second).add(value);
      }
      EXPECT_EQ(first.size() + second.size(), size);
      EXPECT_EQ(first.sum() + second.sum(), sum);
      const TypicalLengths typical = Durations::typical({&first, &second});
      EXPECT_EQ(typical.p50, percentile(values, 50)) << size << " " << bits;
      EXPECT_EQ(typical.p99, percentile(values, 99)) << size << " " << bits;
      EXPECT_EQ(typical.max, percentile(values, 100)) << size << " " << bits;
    }
  }
}

TEST(Durations, HaveAnyShareOfNegativeAndVeryLongOnes) {
  std::mt19937_64 random(7);
  for (const int negative : {0, 1, 49, 50, 60, 99, 100}) {
    for (int longer = 0; negative + longer <= 100; longer += longer == 1 ? 48 : 1) {
      Durations lengths;
      std::vector<TimeNs> values;
      for (int i = 0; i < 100; ++i) {
        const auto value = static_cast<TimeNs>(random() >> 34);
        values.push_back(i < negative ? -1 - value : i < negative + longer ? (TimeNs{1} << 33) + value : value);
        lengths.add(values.back());
      }
      EXPECT_EQ(lengths.typical().p50, percentile(values, 50)) << negative << " " << longer;
      EXPECT_EQ(lengths.typical().p99, percentile(values, 99)) << negative << " " << longer;
      EXPECT_EQ(lengths.typical().max, percentile(values, 100)) << negative << " " << longer;
    }
  }
}

TEST(Percentile, OfAnEmptyListIsZero) { EXPECT_EQ(percentile({}, 50), 0); }

TEST(Percentile, OfOneValueIsThatValue) {
  for (const double percent : {0.0, 1.0, 50.0, 99.0, 100.0}) EXPECT_EQ(percentile({7}, percent), 7);
}

TEST(Percentile, IsTheNearestRank) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<TimeNs> values(1 + random() % 40);
    for (TimeNs& value : values) value = random() % 30;
    for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 100.0}) {
      const TimeNs found = percentile(values, percent);
      const auto at_or_below = std::count_if(values.begin(), values.end(), [&](TimeNs v) { return v <= found; });
      const auto below = std::count_if(values.begin(), values.end(), [&](TimeNs v) { return v < found; });
      EXPECT_GE(100.0 * static_cast<double>(at_or_below), percent * static_cast<double>(values.size()));
      EXPECT_LT(100.0 * static_cast<double>(below), percent * static_cast<double>(values.size()));
    }
  }
}

TEST(MedianBetweenTicks, IsTheMedianOfTimesWithoutTicks) {
  EXPECT_EQ(median_between_ticks({}), 0);
  EXPECT_EQ(median_between_ticks({7}), 7);
  EXPECT_EQ(median_between_ticks({1'000, 2'000, 90'000}), 2'000);
  EXPECT_EQ(median_between_ticks({1'000, 1'000, 1'000}), 1'000);
  EXPECT_EQ(median_between_ticks({1'000, 1'000, 1'000, 5'000}), 1'000);  // no clock ticks every 4 us
}

TEST(MedianBetweenTicks, FindsWhatAClockRounds) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 60);
  constexpr TimeNs kTick = 32;
  for (const double center : {9'240.0, 9'248.0, 9'255.0, 9'263.0}) {
    std::vector<TimeNs> rounded(20'001);
    for (TimeNs& value : rounded) value = std::llround((center + noise(random)) / kTick) * kTick;
    EXPECT_NEAR(median_between_ticks(rounded), center, 3) << center;
    EXPECT_EQ(percentile(rounded, 50) % kTick, 0);
  }
}

/// Reference implementation: counts every nanosecond.
TimeNs covered_by_count(const std::vector<Interval>& intervals) {
  TimeNs covered = 0;
  for (TimeNs t = -50; t < 150; ++t)
    covered +=
        std::any_of(intervals.begin(), intervals.end(), [t](const Interval& i) { return i.begin <= t && t < i.end; });
  return covered;
}

TEST(Intervals, AgreeWithCountingEveryNanosecond) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> intervals(random() % 12);
    for (Interval& i : intervals) {
      i.begin = static_cast<TimeNs>(random() % 100) - 40;
      i.end = i.begin + 1 + static_cast<TimeNs>(random() % 40);
    }
    EXPECT_EQ(covered(intervals), covered_by_count(intervals));
  }
}

TEST(Intervals, AnEmptyIntervalCoversNothing) { EXPECT_EQ(covered({{5, 5}}), 0); }

}  // namespace
}  // namespace wicprof::analyzer
