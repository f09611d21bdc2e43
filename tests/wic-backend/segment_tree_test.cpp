// The page tree compared with a plain array of pages that is scanned.
#include "src/channel/segment_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace wic {
namespace {

// One bool per page.
class PageArray {
 public:
  explicit PageArray(std::uint32_t pages) : taken_(pages) {}

  std::optional<std::uint32_t> take(std::uint32_t run) {
    std::uint32_t length = 0;
    for (std::uint32_t page = 0; run != 0 && page < taken_.size(); ++page) {
      length = taken_[page] ? 0 : length + 1;
      if (length < run) continue;
      std::fill_n(taken_.begin() + (page + 1 - run), run, true);
      return page + 1 - run;
    }
    return std::nullopt;
  }
  bool give_back(std::uint32_t first, std::uint32_t run) {
    if (run == 0 || std::uint64_t{first} + run > taken_.size()) return false;
    const auto begin = taken_.begin() + first;
    if (std::find(begin, begin + run, false) != begin + run) return false;
    std::fill_n(begin, run, false);
    return true;
  }
  std::uint32_t free_pages() const {
    return static_cast<std::uint32_t>(std::count(taken_.begin(), taken_.end(), false));
  }
  std::uint32_t longest_run() const {
    std::uint32_t longest = 0, length = 0;
    for (const bool taken : taken_) {
      length = taken ? 0 : length + 1;
      longest = std::max(longest, length);
    }
    return longest;
  }

 private:
  std::vector<bool> taken_;
};

TEST(SegmentTree, AllPagesAreFreeAtFirst) {
  for (const std::uint32_t pages : {1u, 2u, 64u, 16384u}) {
    SegmentTree tree(pages);
    EXPECT_EQ(tree.free_pages(), pages);
    EXPECT_EQ(tree.longest_run(), pages);
    EXPECT_EQ(tree.take(pages + 1), std::nullopt);
    EXPECT_EQ(tree.take(pages), 0u);
    EXPECT_EQ(tree.free_pages(), 0u);
    EXPECT_EQ(tree.take(1), std::nullopt);
    EXPECT_TRUE(tree.give_back(0, pages));
    EXPECT_EQ(tree.longest_run(), pages);
  }
}

TEST(SegmentTree, ARunMayCrossTheMiddle) {
  SegmentTree tree(8);
  ASSERT_EQ(tree.take(3), 0u);
  ASSERT_EQ(tree.take(2), 3u);
  ASSERT_EQ(tree.take(3), 5u);
  ASSERT_TRUE(tree.give_back(3, 2));
  EXPECT_EQ(tree.longest_run(), 2u);
  EXPECT_EQ(tree.take(2), 3u);
}

TEST(SegmentTree, TakesTheLowestSufficientRun) {
  SegmentTree tree(16);
  ASSERT_EQ(tree.take(16), 0u);
  ASSERT_TRUE(tree.give_back(1, 1));
  ASSERT_TRUE(tree.give_back(6, 4));
  ASSERT_TRUE(tree.give_back(13, 3));
  EXPECT_EQ(tree.take(3), 6u);
  EXPECT_EQ(tree.take(3), 13u);
  EXPECT_EQ(tree.take(1), 1u);
  EXPECT_EQ(tree.take(1), 9u);
  EXPECT_EQ(tree.free_pages(), 0u);
}

TEST(SegmentTree, GivingBackFreePagesChangesNothing) {
  SegmentTree tree(16);
  ASSERT_EQ(tree.take(8), 0u);
  EXPECT_FALSE(tree.give_back(0, 9));  // the last page is free
  EXPECT_FALSE(tree.give_back(7, 2));
  EXPECT_FALSE(tree.give_back(8, 1));
  EXPECT_FALSE(tree.give_back(3, 0));
  EXPECT_FALSE(tree.give_back(16, 1));  // does not exist
  EXPECT_FALSE(tree.give_back(15, 2));
  EXPECT_FALSE(tree.give_back(1, 0xffffffff));
  EXPECT_EQ(tree.free_pages(), 8u);
  EXPECT_TRUE(tree.give_back(2, 4));  // a part of one taken run
  EXPECT_FALSE(tree.give_back(2, 4));
  EXPECT_FALSE(tree.give_back(0, 8));
  EXPECT_EQ(tree.free_pages(), 12u);
  EXPECT_EQ(tree.longest_run(), 8u);
}

TEST(SegmentTree, PagesBeyondTheLastAreNeverHandedOut) {
  SegmentTree tree(11);
  EXPECT_EQ(tree.free_pages(), 11u);
  EXPECT_EQ(tree.take(12), std::nullopt);
  EXPECT_EQ(tree.take(11), 0u);
  EXPECT_FALSE(tree.give_back(11, 1));  // beyond the last page
  EXPECT_FALSE(tree.give_back(10, 2));
  EXPECT_TRUE(tree.give_back(10, 1));
  EXPECT_EQ(tree.longest_run(), 1u);

  SegmentTree none(0);
  EXPECT_EQ(none.free_pages(), 0u);
  EXPECT_EQ(none.take(1), std::nullopt);
  EXPECT_FALSE(none.give_back(0, 1));
}

class RandomPages : public testing::TestWithParam<std::uint32_t> {};

// Also requests impossible runs and gives back free pages.
TEST_P(RandomPages, AgreesWithAScan) {
  const std::uint32_t pages = GetParam();
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    SegmentTree tree(pages);
    PageArray array(pages);
    std::uint32_t refused = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::uint32_t run = random() % (random() % 8 == 0 ? pages + 2 : pages / 8 + 2);
      if (random() % 2 == 0) {
        ASSERT_EQ(tree.take(run), array.take(run)) << "seed " << seed << ", operation " << i;
      } else {
        const std::uint32_t first = random() % (pages + 1);
        const bool given = array.give_back(first, run);
        ASSERT_EQ(tree.give_back(first, run), given) << "seed " << seed << ", operation " << i;
        refused += given ? 0 : 1;
      }
      ASSERT_EQ(tree.free_pages(), array.free_pages()) << "seed " << seed << ", operation " << i;
      ASSERT_EQ(tree.longest_run(), array.longest_run()) << "seed " << seed << ", operation " << i;
    }
    ASSERT_GT(refused, 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(Pages, RandomPages, testing::Values(1, 2, 7, 32, 64, 65, 128, 300, 1024),
                         testing::PrintToStringParamName());

TEST(SegmentTree, AMillionTakesAndGiveBacksLoseNoPage) {
  constexpr std::uint32_t kPages = 16384;
  SegmentTree tree(kPages);
  std::vector<std::uint8_t> taken(kPages);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
  std::uint32_t pages_taken = 0, refused = 0;
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    if (runs.empty() || random() % 8 < 5) {  // more takes than pages: some are refused
      const std::uint32_t run = 1 + random() % 16;
      const std::optional<std::uint32_t> first = tree.take(run);
      if (!first) {
        ASSERT_LT(tree.longest_run(), run);
        ++refused;
        continue;
      }
      for (std::uint32_t page = *first; page < *first + run; ++page) ASSERT_EQ(taken[page]++, 0) << "handed out twice";
      runs.emplace_back(*first, run);
      pages_taken += run;
    } else {
      std::swap(runs[random() % runs.size()], runs.back());
      const auto [first, run] = runs.back();
      runs.pop_back();
      ASSERT_TRUE(tree.give_back(first, run));
      for (std::uint32_t page = first; page < first + run; ++page) --taken[page];
      pages_taken -= run;
    }
    ASSERT_EQ(tree.free_pages(), kPages - pages_taken);
  }
  EXPECT_GT(refused, 1000u);
  for (const auto& [first, run] : runs) ASSERT_TRUE(tree.give_back(first, run));
  EXPECT_EQ(tree.free_pages(), kPages);
  EXPECT_EQ(tree.longest_run(), kPages);
}

}  // namespace
}  // namespace wic
