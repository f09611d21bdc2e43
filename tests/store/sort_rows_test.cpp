#include "store/read/sort_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace wicprof::store {
namespace {

struct Row {
  std::int64_t time;
  std::string name;
  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const std::vector<std::int64_t>& times) {
  std::vector<Row> rows;
  for (const std::int64_t time : times) rows.push_back({time, "row " + std::to_string(rows.size())});
  return rows;
}

void sorts_like_the_library(const std::vector<std::int64_t>& times) {
  std::vector<Row> ours = rows_of(times), theirs = ours;
  sort_rows(ours, [](const Row& row) { return row.time; });
  std::stable_sort(theirs.begin(), theirs.end(), [](const Row& a, const Row& b) { return a.time < b.time; });
  EXPECT_EQ(ours, theirs);
}

TEST(SortRows, FewAndNone) {
  sorts_like_the_library({});
  sorts_like_the_library({3});
  sorts_like_the_library({2, 1});
  sorts_like_the_library({1, 1, 1});
}

TEST(SortRows, NearlyInOrder) {
  std::mt19937 random(1);
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 2'000; ++i) times.push_back(i * 10 + static_cast<std::int64_t>(random() % 60));
  sorts_like_the_library(times);
}

TEST(SortRows, UnorderedOrReversed) {
  std::mt19937 random(2);
  std::vector<std::int64_t> times, backwards;
  for (std::int64_t i = 0; i < 3'000; ++i) {
    times.push_back(static_cast<std::int64_t>(random() % 500) - 250);
    backwards.push_back(-i / 3);
  }
  sorts_like_the_library(times);
  sorts_like_the_library(backwards);
}

TEST(SortRows, TwoSortedListsInSequence) {
  std::vector<std::int64_t> times;
  for (int list = 0; list < 2; ++list) {
    for (std::int64_t i = 0; i < 1'000; ++i) times.push_back(2 * i + list);
  }
  sorts_like_the_library(times);
}

}  // namespace
}  // namespace wicprof::store
