// Lists that are kept by columns give back what was put in.
#include "store/format/row_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "store/format/event_tables.h"
#include "store/read/sort_rows.h"

namespace wicprof::store {
namespace {

template <class Table>
bool equal(const typename Table::Row& a, const typename Table::Row& b) {
  bool same = true;
  row_list::for_each_member<Table>(a, [&](const auto& member) {
    const auto offset = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&a);
    same = same && member == *reinterpret_cast<const std::remove_cvref_t<decltype(member)>*>(
                                 reinterpret_cast<const char*>(&b) + offset);
  });
  return same;
}

/// Members of any size and sign; a part of the optional ones is empty.
template <class Table>
typename Table::Row any_row(std::mt19937_64& random, int bits) {
  typename Table::Row row{};
  row_list::for_each_member<Table>(row, [&](auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const auto number = static_cast<std::int64_t>(random() & ((bits == 64 ? 0 : std::uint64_t{1} << bits) - 1));
    if constexpr (std::is_same_v<Member, Name>) {
      member = Name(std::to_string(number % 5));
    } else if constexpr (row_list::IsOptional<Member>::value) {
      if (number % 3 != 0) member = static_cast<std::remove_cvref_t<decltype(*member)>>(-(number / 2));
    } else if constexpr (std::is_same_v<Member, bool>) {
      member = number % 2 != 0;
    } else {
      member = static_cast<Member>(number);
    }
  });
  return row;
}

template <class Table>
void check_table() {
  std::mt19937_64 random(1);
  for (const int bits : {1, 7, 20, 33, 64}) {
    std::vector<typename Table::Row> rows;
    RowsOf<Table> list;
    for (int i = 0; i < 10'000; ++i) {
      rows.push_back(any_row<Table>(random, i < 5'000 ? bits : 3));
      list.push_back(rows.back());
    }
    const RowsOf<Table> copy = list;
    list.close();
    list.push_back(rows.front());
    list.set(4'999, rows[17]);
    ASSERT_EQ(list.size(), 10'001u);
    ASSERT_EQ(copy.size(), 10'000u);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_TRUE(equal<Table>(copy[i], rows[i])) << Table::kName << " " << bits << " " << i;
      ASSERT_TRUE(equal<Table>(list[i], rows[i == 4'999 ? 17 : i])) << Table::kName << " " << bits << " " << i;
    }
    EXPECT_TRUE(equal<Table>(list.back(), rows.front()));
  }
}

TEST(RowList, GivesBackWhatWasPutIn) {
  check_table<WaitTable>();
  check_table<SignalTable>();
  check_table<CallTable>();
  check_table<KernelTable>();
  check_table<HostWaitTable>();
  check_table<CopyTable>();
}

TEST(RowList, KeepsTheEndsOfItsNumbers) {
  constexpr TimeNs kLeast = std::numeric_limits<TimeNs>::min(), kMost = std::numeric_limits<TimeNs>::max();
  WaitList list;
  for (const TimeNs time : {kLeast, TimeNs{-1}, TimeNs{0}, TimeNs{1}, kMost}) {
    WaitRow row{};
    row.arrived = time;
    row.switched = time == kLeast || time == kMost ? OptionalTime() : OptionalTime(time);
    list.push_back(row);
  }
  list.close();
  EXPECT_EQ(list[0].arrived, kLeast);
  EXPECT_EQ(list[4].arrived, kMost);
  EXPECT_FALSE(list[0].switched || list[4].switched);
  EXPECT_EQ(list[1].switched, OptionalTime(-1));
  EXPECT_EQ(list[2].switched, OptionalTime(0));
}

TEST(RowList, TakesFewBytesPerWait) {
  // A wait every 12 us by one of 264 blocks: the row as a struct takes over a hundred bytes.
  WaitList list;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    WaitRow row{};
    row.id = i + 1;
    row.block = i % 264;
    row.iteration = i / 264;
    row.arrived = TimeNs{1'700'000'000'000'000'000} + i * 12'000;
    row.resumed = row.arrived + 40'000 + i % 1'000;
    list.push_back(row);
  }
  list.close();
  EXPECT_LT(list.bytes(), 20u * list.size());
}

TEST(RowList, RemovesAndSortsRows) {
  WaitList list;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    WaitRow row{};
    row.id = i;
    row.arrived = (i * 7'919) % 20'000 / 2;  // each time twice
    list.push_back(row);
  }
  EXPECT_EQ(list.erase_if([](const WaitRow& row) { return row.id % 2 != 0; }), 10'000u);
  sort_by_time<WaitTable>(list);
  ASSERT_EQ(list.size(), 10'000u);
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_TRUE(list[i - 1].arrived < list[i].arrived ||
                (list[i - 1].arrived == list[i].arrived && list[i - 1].id < list[i].id));
  }
}

TEST(RowList, OfRowsOutOfOrderByMoreThanTheWindowIsSorted) {
  for (const int apart : {3, 50'000, 70'000}) {
    for (const int in_first : {60'000, static_cast<int>(14 * kBlockRows)}) {
      RowSink<WaitList> first, second;
      for (int i = 0; i < 100'000; ++i) {
        WaitRow& row = (i < in_first ? first : second).next();
        row.id = i;
        row.arrived = 10 * (i % apart == 0 ? i + 5 * apart : i);
      }
      first.add(std::move(second));
      const WaitList list = first.take();
      ASSERT_EQ(list.size(), 100'000u);
      std::vector<bool> seen(list.size());
      for (std::size_t i = 0; i < list.size(); ++i) {
        ASSERT_LE(list[i == 0 ? 0 : i - 1].arrived, list[i].arrived);
        seen.at(static_cast<std::size_t>(list[i].id)) = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
    }
  }
}

}  // namespace
}  // namespace wicprof::store
