#include "src/channel/availability_bitmap.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wic {
namespace {

TEST(AvailabilityBitmap, NothingIsAvailableAtFirst) {
  const AvailabilityBitmap bitmap(70);
  EXPECT_EQ(bitmap.words(), 3u);
  for (Tag tag = 0; tag < 70; ++tag) {
    EXPECT_FALSE(bitmap.available(tag, 1));
    EXPECT_FALSE(bitmap.available(tag, 2));
  }
}

TEST(AvailabilityBitmap, AWordHasTheBitsOfThirtyTwoTags) {
  using Position = AvailabilityBitmap::Position;
  EXPECT_EQ(AvailabilityBitmap::position(0), (Position{0, 0}));
  EXPECT_EQ(AvailabilityBitmap::position(31), (Position{0, 31}));
  EXPECT_EQ(AvailabilityBitmap::position(32), (Position{1, 0}));
  EXPECT_EQ(AvailabilityBitmap::position(69), (Position{2, 5}));
}

TEST(AvailabilityBitmap, SetReturnsTheWordToSend) {
  AvailabilityBitmap bitmap(64);
  EXPECT_EQ(bitmap.set(33, 1), 1u << 1);
  EXPECT_EQ(bitmap.set(63, 1), 1u << 31 | 1u << 1);
  EXPECT_EQ(bitmap.set(33, 1), 1u << 31 | 1u << 1);  // repeated: nothing changes
  EXPECT_EQ(bitmap.set(33, 2), 1u << 1);             // the bitmap of even cycles
  EXPECT_EQ(bitmap.set(0, 1), 1u);                   // another word
  EXPECT_EQ(bitmap.set(33, 3), 1u << 31);            // the meaning is inverted
  EXPECT_EQ(bitmap.word(1, 1), 1u << 31);
  EXPECT_EQ(bitmap.word(1, 2), 1u << 1);
}

TEST(AvailabilityBitmap, TheMeaningIsInvertedEveryTwoCycles) {
  for (const std::uint32_t cycle : {1u, 2u, 5u, 6u, 9u, 4'294'967'293u}) {
    EXPECT_EQ(AvailabilityBitmap::full(cycle), ~0u) << cycle;
  }
  for (const std::uint32_t cycle : {3u, 4u, 7u, 8u, 11u, 4'294'967'295u}) {
    EXPECT_EQ(AvailabilityBitmap::full(cycle), 0u) << cycle;
  }
}

TEST(AvailabilityBitmap, AWordIsFullWhenAllItsTagsHaveArrived) {
  AvailabilityBitmap bitmap(32);
  for (std::uint32_t cycle = 1; cycle <= 9; ++cycle) {
    std::uint32_t word = bitmap.word(0, cycle);
    for (Tag tag = 0; tag < 32; ++tag) {
      EXPECT_NE(word, AvailabilityBitmap::full(cycle));
      word = bitmap.set(tag, cycle);
    }
    EXPECT_EQ(word, AvailabilityBitmap::full(cycle));
  }
}

// Every tag runs at its own pace, up to two cycles ahead of its consumer, which queries all cycles that it may.
TEST(AvailabilityBitmap, AgreesWithOneCounterPerTag) {
  constexpr std::uint32_t kTags = 75;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    AvailabilityBitmap bitmap(kTags);
    std::vector<std::uint32_t> produced(kTags), consumed(kTags);
    std::uint32_t held_up = 0;
    for (int i = 0; i < 20'000; ++i) {
      const Tag tag = random() % kTags;
      if (random() % 2 == 0) {
        if (produced[tag] == consumed[tag] + 2) {
          ++held_up;
        } else {
          ++produced[tag];
          const std::uint32_t word = bitmap.set(tag, produced[tag]);
          ASSERT_EQ(word, bitmap.word(tag / 32, produced[tag]));
        }
      } else if (consumed[tag] < produced[tag]) {
        ++consumed[tag];
      }
      const Tag asked = random() % kTags;
      for (std::uint32_t cycle = consumed[asked] + 1; cycle <= consumed[asked] + 2; ++cycle) {
        ASSERT_EQ(bitmap.available(asked, cycle), cycle <= produced[asked]) << "seed " << seed << ", cycle " << cycle;
      }
    }
    ASSERT_GT(held_up, 0u);
  }
}

}  // namespace
}  // namespace wic
